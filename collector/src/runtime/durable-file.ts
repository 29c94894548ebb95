import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { makeFolder } from "../files/make-folder.ts";

/** What a collector keeps beside its database tells what an organization works on, as the database does. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** Replaces a small file as a whole: after a crash it holds the old text or the new one. Resolves when it is durable. */
export async function replaceDurably(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  makeFolder(folder, FOLDER_MODE);
  await writeDurably(`${path}.new`, text);
  await rename(`${path}.new`, path);
  await syncFolder(folder);
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, "w", FILE_MODE);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes the new name durable. Where a folder cannot be opened (Windows), the system sees to it itself. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
