import type { ExportedSignal } from "../config/exporter-configuration.ts";
import { createOtlpSender, type OtlpExporter } from "./otlp-destination.ts";
import type { SendOutcome } from "./send-outcome.ts";

/** A destination may be slow; one that does not answer in this time is told of. Milliseconds. */
const TIMEOUT_MS = 5_000;

/** Sends a request without records. @throws the system's error for a file of TLS that cannot be read. */
export async function askDestination(exporter: OtlpExporter, signal: ExportedSignal): Promise<SendOutcome> {
  const sender = createOtlpSender(exporter, signal, () => 0);
  // Zero bytes are a message of OTLP without any records, and an empty object is one in JSON.
  const isJson = exporter.type === "otlp_http" && exporter.settings.encoding === "json";
  return sender.send(Buffer.from(isJson ? "{}" : ""), AbortSignal.timeout(TIMEOUT_MS)).finally(() => sender.close());
}
