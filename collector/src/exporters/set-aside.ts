import { appendFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { makeFolder } from "../files/make-folder.ts";

/** A record that its destination refuses for good. Its content stays in the collector's log, under the input's number. */
export interface SetAside {
  readonly inputId: number;
  readonly reason: string;
}

/** Remembers refused records for somebody to look at. Never rejects: that they are counted does not depend on it. */
export interface AsideList {
  add(records: readonly SetAside[]): Promise<void>;
}

const MAX_BYTES = 1024 * 1024;
const FILE_MODE = 0o600;

/** A file of JSON lines, up to a mebibyte: what comes after that is only counted. */
export function createAsideFile(path: string, now: () => number, onError: (error: unknown) => void): AsideList {
  return {
    add: async (records) => {
      try {
        const size = await stat(path).then(
          (found) => found.size,
          () => 0,
        );
        if (size >= MAX_BYTES) return;
        const at = new Date(now()).toISOString();
        const lines = records.map((record) => `${JSON.stringify({ at, ...record })}\n`);
        makeFolder(dirname(path), 0o700);
        await appendFile(path, lines.join(""), { mode: FILE_MODE });
      } catch (error) {
        onError(error);
      }
    },
  };
}
