import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/** A program that can be started, or why there is none. */
export type GoBuild =
  | { readonly kind: "built"; readonly path: string; readonly goMod: string }
  | { readonly kind: "unavailable"; readonly reason: string };

export interface GoProgram {
  /** Folder of its `go.mod` below `test/programs`. */
  readonly folder: string;
  /** What the file is called. */
  readonly name: string;
  /** The package to build; default: the folder's own. */
  readonly package?: string;
  readonly tags?: string;
  /** A build that takes this long hangs, or is not worth the wait. Milliseconds; default 15 minutes. */
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 15 * 60_000;

const run = promisify(execFile);

/**
 * Builds a program from Go modules. It is kept outside the repository, under a name that its sources and the Go toolchain
 * decide; without that copy it is built again. Never rejects: without Go, or without its modules, it says why.
 */
export async function buildGoProgram(program: GoProgram): Promise<GoBuild> {
  try {
    const folder = sourceFolder(program.folder);
    const path = await pathOf(program, folder);
    if (!(await exists(path))) await build(program, folder, path);
    return { kind: "built", path, goMod: await readFile(join(folder, "go.mod"), "utf8") };
  } catch (error) {
    return { kind: "unavailable", reason: reasonOf(error) };
  }
}

/** Whether a program is there already: for those that take longer to build than somebody has. */
export async function isBuilt(program: GoProgram): Promise<boolean> {
  try {
    return await exists(await pathOf(program, sourceFolder(program.folder)));
  } catch {
    return false;
  }
}

/** Where a program is kept: its sources, how it is built, and the toolchain decide the name. */
async function pathOf({ name, package: target, tags }: GoProgram, folder: string): Promise<string> {
  const { stdout } = await run("go", ["version"], { cwd: folder });
  const names = (await readdir(folder)).filter((file) => /^go\.(?:mod|sum)$|\.go$/.test(file)).toSorted();
  const sources = await Promise.all(names.map((file) => readFile(join(folder, file))));
  const how = Buffer.from(JSON.stringify([name, target, tags]));
  return join(await ownCacheFolder(), digestOf([Buffer.from(stdout), how, ...sources]), name);
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
function sourceFolder(name: string): string {
  const workspace = dirname(createRequire(import.meta.url).resolve("@agent-lifecycle/test/package.json"));
  return join(workspace, "programs", name);
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

async function build(program: GoProgram, folder: string, path: string): Promise<void> {
  const { name, package: target = ".", tags, timeoutMs = DEFAULT_TIMEOUT_MS } = program;
  await mkdir(dirname(path), { recursive: true });
  const workshop = await mkdtemp(`${path}-`);
  try {
    const built = join(workshop, name);
    const tagged = tags === undefined ? [] : [`-tags=${tags}`];
    await run("go", ["build", "-mod=readonly", "-trimpath", "-ldflags=-s -w", ...tagged, "-o", built, target], {
      cwd: folder,
      timeout: timeoutMs,
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
