import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rename, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/** An OpenTelemetry Collector that can be started, or why there is none. */
export type OtelCollectorBuild =
  | { readonly kind: "built"; readonly path: string; readonly version: string }
  | { readonly kind: "unavailable"; readonly reason: string };

/** A build from nothing takes a minute or two on two cores; one that takes this long hangs. */
const BUILD_TIMEOUT_MS = 15 * 60_000;
const SOURCES = ["go.mod", "go.sum", "main.go"] as const;
const PROGRAM = "otel-collector";

const run = promisify(execFile);

/**
 * Builds the OpenTelemetry Collector beside this file from Go modules. The program is kept outside the repository, under
 * a name that its sources and the Go toolchain decide; without that copy it is built again.
 * Never rejects: without Go, or without its modules, it says why.
 */
export async function buildOtelCollector(): Promise<OtelCollectorBuild> {
  try {
    const folder = sourceFolder();
    const { stdout } = await run("go", ["version"]);
    const sources = await Promise.all(SOURCES.map((name) => readFile(join(folder, name))));
    const path = join(await ownCacheFolder(), digestOf([Buffer.from(stdout), ...sources]), PROGRAM);
    if (!(await exists(path))) await build(folder, path);
    return { kind: "built", path, version: versionOf(String(sources[0])) };
  } catch (error) {
    return { kind: "unavailable", reason: reasonOf(error) };
  }
}

/** The release of the Collector that a `go.mod` asks for. */
export function versionOf(goMod: string): string {
  return /^\s*go\.opentelemetry\.io\/collector\/otelcol v(\S+)/m.exec(goMod)?.[1] ?? "unknown";
}

/** One line for people: a missing program, or the last thing the compiler said. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("code" in error && error.code === "ENOENT" && "syscall" in error && String(error.syscall).startsWith("spawn")) {
    return "go is not installed";
  }
  if ("killed" in error && error.killed === true) return "go took too long";
  const complaint = "stderr" in error ? String(error.stderr).trim().split("\n").at(-1) : undefined;
  return complaint === undefined || complaint === "" ? error.message : `go: ${complaint.slice(0, 200)}`;
}

// The compiled tests lie elsewhere than their sources, and the Go files are only with the latter.
function sourceFolder(): string {
  const workspace = dirname(createRequire(import.meta.url).resolve("@agent-lifecycle/test/package.json"));
  return join(workspace, "programs", PROGRAM);
}

/** A folder of programs that are run later must be nobody else's. */
async function ownCacheFolder(): Promise<string> {
  const { uid } = userInfo();
  const folder = join(tmpdir(), `agent-lifecycle-programs-${uid}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const found = await stat(folder);
  if (process.platform !== "win32" && (found.uid !== uid || (found.mode & 0o022) !== 0)) {
    throw new Error(`${folder} can be written by others`);
  }
  return folder;
}

async function build(folder: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const workshop = await mkdtemp(`${path}-`);
  try {
    const built = join(workshop, PROGRAM);
    await run("go", ["build", "-mod=readonly", "-trimpath", "-ldflags=-s -w", "-o", built, "."], {
      cwd: folder,
      timeout: BUILD_TIMEOUT_MS,
      maxBuffer: 16 * 1024 * 1024,
    });
    // Two that build at once do not meet a half-written program.
    await rename(built, path);
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
}

function digestOf(parts: readonly Buffer[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${part.length}\n`).update(part);
  return hash.digest("hex").slice(0, 32);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
