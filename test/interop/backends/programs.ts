import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { buildGoProgram, type GoProgram, isBuilt } from "../../programs/go-program.ts";

/** How a program is started, or why it is not here. */
export type Found =
  | { readonly isThere: true; readonly path: string; readonly version: string }
  | { readonly isThere: false; readonly reason: string };

const run = promisify(execFile);

/**
 * Programs that take many minutes to build from nothing. With AGENT_LIFECYCLE_BACKENDS=quick they run only where they
 * were built before, or where the system has them.
 */
const isQuick = process.env["AGENT_LIFECYCLE_BACKENDS"] === "quick";

export const OTEL_COLLECTOR: GoProgram = { folder: "otel-collector", name: "otel-collector" };
export const OTEL_PIPELINE: GoProgram = { folder: "otel-pipeline", name: "otel-pipeline" };
export const VICTORIA_LOGS: GoProgram = {
  folder: "victoria-logs",
  name: "victoria-logs",
  package: "github.com/VictoriaMetrics/VictoriaLogs/app/victoria-logs",
};
export const PROMETHEUS: GoProgram = {
  folder: "prometheus",
  name: "prometheus",
  package: "github.com/prometheus/prometheus/cmd/prometheus",
  // Of all ways to find what to scrape it has those that the core has.
  tags: "remove_all_sd",
};
export const PROMTOOL: GoProgram = {
  ...PROMETHEUS,
  name: "promtool",
  package: "github.com/prometheus/prometheus/cmd/promtool",
};
export const JAEGER: GoProgram = {
  folder: "jaeger",
  name: "jaeger",
  package: "github.com/jaegertracing/jaeger/cmd/jaeger",
};

/** A program that is built from Go modules. */
export async function built(program: GoProgram, module: string): Promise<Found> {
  const found = await buildGoProgram(program);
  if (found.kind === "unavailable") return { isThere: false, reason: found.reason };
  const version = new RegExp(`^\\s*${module.replaceAll(".", "\\.")} (v\\S+)`, "m").exec(found.goMod)?.[1];
  return { isThere: true, path: found.path, version: version ?? "unknown" };
}

/** As `built`, for those that take long. */
export async function builtOrLeft(program: GoProgram, module: string): Promise<Found> {
  if (isQuick && !(await isBuilt(program))) {
    return { isThere: false, reason: "it takes long to build, and AGENT_LIFECYCLE_BACKENDS=quick leaves it out" };
  }
  return built(program, module);
}

/** Where it was not built, what the system's package has. */
export async function builtOrInstalled(program: GoProgram, module: string): Promise<Found> {
  const found = await builtOrLeft(program, module);
  if (found.isThere) return found;
  try {
    const { stdout, stderr } = await run(program.name, ["--version"]);
    const version = /version (\S+)/.exec(stdout + stderr)?.[1] ?? "unknown";
    return { isThere: true, path: program.name, version: `v${version}` };
  } catch {
    return found;
  }
}
