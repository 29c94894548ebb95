import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceDurably } from "./durable-file.ts";
import type { ExportCursors } from "./export-cursors.ts";

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
      await replaceDurably(pathOf(exporter), `${JSON.stringify({ exporter, inputId })}\n`);
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
