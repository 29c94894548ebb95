import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { cached, firstLine, sourcesHash } from "../tool-cache.ts";

const run = promisify(execFile);

/** How a host is started, or why it cannot be here. */
export type Host =
  | { readonly isThere: true; readonly program: string; readonly argv: readonly string[] }
  | { readonly isThere: false; readonly reason: string };

function source(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

/** OpenTelemetry JS, which this repository brings along. */
export async function nodeHost(): Promise<Host> {
  return { isThere: true, program: process.execPath, argv: [source("node/emit.mjs")] };
}

/** A virtual environment with exactly the packages that `requirements.txt` lists. */
export async function pythonHost(): Promise<Host> {
  const requirements = source("python/requirements.txt");
  let version: string;
  try {
    version = (await run("python3", ["-c", "import ensurepip, sys, venv; print(sys.version)"])).stdout;
  } catch (error) {
    return { isThere: false, reason: `python3 with venv: ${firstLine(error)}` };
  }
  try {
    const folder = await cached(`python-${sourcesHash(version, readFileSync(requirements))}`, async (aside) => {
      await run("python3", ["-m", "venv", aside]);
      const install = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--disable-pip-version-check",
        "-r",
        requirements,
      ];
      await run(join(aside, "bin", "python"), install);
    });
    return { isThere: true, program: join(folder, "bin", "python"), argv: [source("python/emit.py")] };
  } catch (error) {
    return { isThere: false, reason: `the packages for python: ${firstLine(error)}` };
  }
}

/**
 * A program compiled from `go/`, with the modules that `go.sum` lists.
 * @throws Error when all is there and it does not compile.
 */
export async function goHost(): Promise<Host> {
  const cwd = source("go");
  let version: string;
  try {
    version = (await run("go", ["version"], { cwd })).stdout;
  } catch (error) {
    return { isThere: false, reason: `go: ${firstLine(error)}` };
  }
  try {
    await run("go", ["mod", "download"], { cwd });
  } catch (error) {
    return { isThere: false, reason: `the modules for go: ${firstLine(error)}` };
  }
  const sources = ["main.go", "go.mod", "go.sum"].map((name) => readFileSync(join(cwd, name)));
  const folder = await cached(`go-${sourcesHash(version, ...sources)}`, async (aside) => {
    await run("go", ["build", "-mod=readonly", "-o", join(aside, "emit"), "."], { cwd });
  });
  return { isThere: true, program: join(folder, "emit"), argv: [] };
}
