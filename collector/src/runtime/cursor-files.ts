import { mkdir, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import type { ExportCursors } from "./export-cursors.ts";

/** What is known of the export tells what an organization works on, as the database does. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/**
 * Keeps each cursor in a small file of its own, replaced whole: after a crash it holds the old cursor or the new one.
 * Beside the database and not in it, so that exporters add nothing to the single writer's work.
 */
export function createCursorFiles(folder: string): ExportCursors {
  const pathOf = (exporter: string): string => join(folder, `${encodeURIComponent(exporter)}.json`);
  return {
    load: async (exporter) => {
      const path = pathOf(exporter);
      let text: string;
      try {
        text = await readFile(path, "utf8");
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "ENOENT") return 0;
        throw error;
      }
      return parseCursor(text, path);
    },
    save: async (exporter, inputId) => {
      await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
      const path = pathOf(exporter);
      await writeDurably(`${path}.new`, `${JSON.stringify({ exporter, inputId })}\n`);
      await rename(`${path}.new`, path);
      await syncFolder(folder);
    },
  };
}

/** @throws Error that names the file and the way out: a guess would lose inputs or send them all again. */
function parseCursor(text: string, path: string): number {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && "inputId" in value) {
      const { inputId } = value;
      if (typeof inputId === "number" && Number.isSafeInteger(inputId) && inputId >= 0) return inputId;
    }
  } catch {
    // Said below: whatever is wrong with it, the way out is the same.
  }
  throw new Error(`the cursor file ${path} is damaged; remove it to export everything again`);
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
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
