import { buildGoProgram } from "../go-program.ts";

/** An OpenTelemetry Collector that can be started, or why there is none. */
export type OtelCollectorBuild =
  | { readonly kind: "built"; readonly path: string; readonly version: string }
  | { readonly kind: "unavailable"; readonly reason: string };

/** Builds the OpenTelemetry Collector beside this file from Go modules. Never rejects. */
export async function buildOtelCollector(): Promise<OtelCollectorBuild> {
  const build = await buildGoProgram({ folder: "otel-collector", name: "otel-collector" });
  if (build.kind === "unavailable") return build;
  return { kind: "built", path: build.path, version: versionOf(build.goMod) };
}

/** The release of the Collector that a `go.mod` asks for. */
export function versionOf(goMod: string): string {
  return /^\s*go\.opentelemetry\.io\/collector\/otelcol v(\S+)/m.exec(goMod)?.[1] ?? "unknown";
}
