import { LockedJournal } from "../journal/journal.ts";
import type { JsonlTarget } from "./jsonl-target.ts";

/** Writes lines to a journal that other processes write to as well. */
export function createJsonlJournal(path: string): JsonlTarget {
  const journal = new LockedJournal({ path });
  return {
    append: async (text) => {
      await journal.appendLines(linesOf(text));
    },
    appendSync: (text) => {
      journal.appendLinesNow(linesOf(text));
    },
    close: () => journal.close(),
  };
}

function linesOf(text: string): readonly string[] {
  return text.split("\n").filter((line) => line !== "");
}
