import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What was made earlier is found again by what it was made from. Nothing of it lies in the repository. */
const CACHE = process.env["AGENT_LIFECYCLE_INTEROP_CACHE"] ?? join(tmpdir(), "agent-lifecycle-interop");

/** A name for what is made from these parts. */
export function sourcesHash(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest("hex").slice(0, 16);
}

/** Makes a folder aside and moves it into place: a run that is broken off leaves nothing that looks whole. */
export async function cached(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(CACHE, name);
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  const aside = mkdtempSync(join(CACHE, "making-"));
  try {
    await make(aside);
    renameSync(aside, folder);
  } catch (error) {
    // Another run may have been quicker.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
  return folder;
}

/** The first thing that a tool has said about its failure. */
export function firstLine(error: unknown): string {
  const { stderr, message } = error as { readonly stderr?: string; readonly message?: string };
  return (stderr?.trim() || message || String(error)).split("\n")[0] ?? "";
}
