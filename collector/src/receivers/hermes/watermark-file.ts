import { open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { isJsonObject } from "@agent-lifecycle/proto";
import { makeFolder } from "../../files/make-folder.ts";
import type { Watermark, WatermarkMemory, WatermarkRecord } from "./replay-watermarks.ts";

const MAX_FILE_CHARACTERS = 1_048_576;

/**
 * Keeps watermarks in a file that is replaced whole. Frames carry no time of their own: one that is read again after a
 * restart would come with another time, and be counted as a contradiction. What a crash leaves unsaved is no more than
 * that. A damaged file is as good as none, for the same reason.
 */
export function createWatermarkFile(path: string): WatermarkMemory {
  return {
    load: async () => {
      let text: string;
      try {
        text = await readFile(path, "utf8");
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
        throw error;
      }
      return text.length > MAX_FILE_CHARACTERS ? undefined : parseRecord(text);
    },
    save: async (record) => {
      makeFolder(dirname(path), 0o700);
      const file = await open(`${path}.new`, "w", 0o600);
      try {
        await file.writeFile(`${JSON.stringify(record)}\n`);
      } finally {
        await file.close();
      }
      await rename(`${path}.new`, path);
    },
  };
}

function parseRecord(text: string): WatermarkRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  const { epoch, sessions } = value;
  if (typeof epoch !== "string" || !isJsonObject(sessions)) return undefined;
  const read = Object.entries(sessions).flatMap(([sessionId, raw]): [string, Watermark][] => {
    const watermark = parseWatermark(raw);
    return watermark === undefined ? [] : [[sessionId, watermark]];
  });
  return { epoch, sessions: Object.fromEntries(read) };
}

function parseWatermark(raw: unknown): Watermark | undefined {
  if (!isJsonObject(raw)) return undefined;
  const { lastSeen, restarts } = raw;
  return isCount(lastSeen) && isCount(restarts) ? { lastSeen, restarts } : undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
