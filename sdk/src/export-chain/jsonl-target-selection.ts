import type { JsonlDestination } from "../options.ts";
import { createJsonlFile } from "./jsonl-file.ts";
import { createJsonlJournal } from "./jsonl-journal.ts";
import { createJsonlStream } from "./jsonl-stream.ts";
import type { JsonlTarget } from "./jsonl-target.ts";

export function createJsonlTarget(destination: JsonlDestination): JsonlTarget {
  if (destination === "stdout") return createJsonlStream(process.stdout, 1);
  if (destination === "stderr") return createJsonlStream(process.stderr, 2);
  return "journal" in destination ? createJsonlJournal(destination.journal) : createJsonlFile(destination.path);
}
