import { type ConfiguredExporter, exportersInUse } from "../config/components.ts";
import type { CollectorConfiguration } from "../config/configuration.ts";
import type { ExportedSignal } from "../config/exporter-configuration.ts";
import { type Finding, ok, problem, sentenceOf, warning } from "./finding.ts";

/**
 * Sends one request without records to where an exporter would send a signal, and says what became of it. Stores nothing.
 * Rejects when the exporter cannot be built at all.
 */
export type AskDestination = (
  exporter: Extract<ConfiguredExporter, { readonly type: "otlp_http" | "otlp_grpc" }>,
  signal: ExportedSignal,
) => Promise<{ readonly kind: "taken" | "later" | "refused" | "failed"; readonly reason?: string }>;

/** Whether the destinations of OTLP are there, are the right ones, and know who asks. */
export async function checkExporters(
  configuration: CollectorConfiguration,
  ask: AskDestination,
): Promise<readonly Finding[]> {
  const destinations = exportersInUse(configuration).flatMap((exporter) =>
    exporter.type === "otlp_http" || exporter.type === "otlp_grpc"
      ? exporter.settings.signals.map((signal) => checkDestination(exporter, signal, ask))
      : [],
  );
  return Promise.all(destinations);
}

async function checkDestination(
  exporter: Parameters<AskDestination>[0],
  signal: ExportedSignal,
  ask: AskDestination,
): Promise<Finding> {
  const name = `${exporter.id}:${signal}`;
  try {
    const { kind, reason = "" } = await ask(exporter, signal);
    if (kind === "taken") return ok("exporter", `${name}: the destination takes requests`);
    // Whoever refuses a request for what is not in it has read it.
    if (kind === "refused") return ok("exporter", `${name}: the destination answers (${reason})`);
    return warning(
      "exporter",
      `${name}: ${reason}`,
      "see that it runs, and that address, headers and tls are right; until then what it should get stays in the log",
    );
  } catch (error) {
    return problem("exporter", `${name}: ${sentenceOf(error)}`, "the collector does not start with it");
  }
}
