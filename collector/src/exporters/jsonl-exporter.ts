import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { formatTimestamp } from "@agent-lifecycle/proto";
import { makeFolder } from "../files/make-folder.ts";
import { syncFolder } from "../runtime/durable-file.ts";
import type { ExportTelemetry } from "../runtime/export-telemetry.ts";
import type { ExportBatch, Exporter } from "../runtime/exporter.ts";
import type { ChildUpdate } from "./child-update.ts";
import { type TimelineMemory, updatesOf } from "./derive-updates.ts";
import { projectionRecordOf } from "./projection-record.ts";

export interface JsonlExporterParts {
  readonly id: string;
  readonly path: string;
  readonly maxFileBytes: number;
  readonly keptFiles: number;
  readonly isWanted: (update: ChildUpdate) => boolean;
  readonly timelines: TimelineMemory;
  readonly telemetry: ExportTelemetry;
}

const FILE_MODE = 0o600;
/** Nearly always the end of the last line is in the first of them. */
const CHUNK_BYTES = 4_096;

/** Writes projection records into a file, one a line, with the attributes of their log records. A batch is on the disk before it counts. */
export function createJsonlExporter(parts: JsonlExporterParts): Exporter {
  const { id, path, maxFileBytes, keptFiles, isWanted, timelines, telemetry } = parts;
  let current: { readonly batch: object; readonly lines: readonly string[] } | undefined;

  async function linesOf({ inputs }: ExportBatch): Promise<readonly string[]> {
    const lines: string[] = [];
    try {
      for (const input of inputs) {
        const updates = await updatesOf(input, timelines);
        lines.push(...updates.filter(isWanted).map(lineOf));
      }
    } catch (error) {
      // Some children went on and others did not: the batch is read again from what is stored.
      timelines.forget();
      throw error;
    }
    return lines;
  }

  return {
    start: async () => {
      makeFolder(dirname(path));
    },
    shutdown: async () => {},
    export: async (batch) => {
      if (current?.batch !== batch) {
        current = { batch, lines: await linesOf(batch) };
      }
      const { lines } = current;
      if (lines.length === 0) return { kind: "delivered" };
      if ((await sizeOf(path)) >= maxFileBytes) await rotate(path, keptFiles);
      await appendDurably(path, lines.join(""));
      telemetry.countRecords(id, "sent", lines.length);
      return { kind: "delivered" };
    },
  };
}

function lineOf(update: ChildUpdate): string {
  const { at, severity, body, traceId, spanId, attributes } = projectionRecordOf(update);
  const record = { time: formatTimestamp(at), severity: severity.text, body, traceId, spanId, attributes };
  return `${JSON.stringify(record)}\n`;
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

/** `PATH.1` is the newest of the files that were set aside. */
async function rotate(path: string, keptFiles: number): Promise<void> {
  await rm(`${path}.${keptFiles}`, { force: true });
  for (let number = keptFiles - 1; number > 0; number -= 1)
    await renameIfThere(`${path}.${number}`, `${path}.${number + 1}`);
  await renameIfThere(path, `${path}.1`);
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
}

async function appendDurably(path: string, text: string): Promise<void> {
  const file = await open(path, "a+", FILE_MODE);
  try {
    const size = await endOfLines(file);
    await file.truncate(size);
    try {
      await file.appendFile(text);
      await file.sync();
    } catch (error) {
      // Half of a line would be read together with the next one.
      await file.truncate(size).catch(() => {});
      throw error;
    }
    if (size === 0) await syncFolder(dirname(path));
  } finally {
    await file.close();
  }
}

/** Where the last whole line ends. Whoever is killed while it writes leaves half of one, which comes again as a whole. */
async function endOfLines(file: FileHandle): Promise<number> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let { size: end } = await file.stat();
  while (end > 0) {
    const length = Math.min(end, CHUNK_BYTES);
    const { bytesRead } = await file.read(chunk, 0, length, end - length);
    const newline = chunk.subarray(0, bytesRead).lastIndexOf("\n");
    if (newline >= 0) return end - length + newline + 1;
    end -= length;
  }
  return 0;
}
