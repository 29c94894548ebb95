import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from "node:fs";
import { JournalError } from "./journal-error.ts";
import { JournalScanner, sequenceOf } from "./journal-scanner.ts";

/** Up to where a journal is known to be sound, and the sequence of the last line there. */
export interface Verified {
  readonly bytes: number;
  readonly journalSequence: number;
}

const FILE_MODE = 0o600;
const CHUNK_BYTES = 256 * 1024;
/** Longer than any record of what is verified. */
const RECORD_BYTES = 192;
const NOTHING: Verified = Object.freeze({ bytes: 0, journalSequence: 0 });
const LINE_FEED = 0x0a;

/**
 * The file of a journal, for whoever holds its lock. What others have appended since the last look is read and judged
 * before anything is written behind it; how far the file was found sound is kept in a small record beside it
 * (`<path>.verified`). So the price of an append does not depend on what is there already, also for a new process.
 */
export class JournalFile {
  readonly #path: string;
  readonly #maxLineBytes: number;
  readonly #fsync: boolean;
  #descriptor: number | undefined;
  #record: number | undefined;
  #inode = 0n;
  #verified: Verified = NOTHING;

  constructor(path: string, maxLineBytes: number, fsync: boolean) {
    this.#path = path;
    this.#maxLineBytes = maxLineBytes;
    this.#fsync = fsync;
  }

  /**
   * Appends lines, each an object without its closing brace.
   * @returns the sequence of the first one.
   * @throws JournalError `journal_damaged`, and then nothing was written; Error when the disk refuses, likewise.
   */
  append(openLines: readonly string[]): number {
    const descriptor = this.#open();
    const { bytes: size, journalSequence } = this.#verify(descriptor);
    const text = openLines.map((line, index) => `${line},"journalSequence":${journalSequence + 1 + index}}\n`).join("");
    const buffer = Buffer.from(text);
    try {
      for (let written = 0; written < buffer.byteLength; ) written += writeSync(descriptor, buffer, written);
      if (this.#fsync) fsyncSync(descriptor);
    } catch (error) {
      // Nobody else writes while the lock is held: what was there before is all that is kept.
      ftruncateSync(descriptor, size);
      throw error;
    }
    this.#verified = { bytes: size + buffer.byteLength, journalSequence: journalSequence + openLines.length };
    this.#saveRecord();
    return journalSequence + 1;
  }

  close(): void {
    for (const descriptor of [this.#descriptor, this.#record]) if (descriptor !== undefined) closeSync(descriptor);
    this.#descriptor = undefined;
    this.#record = undefined;
  }

  /** The file at the path now: it may have been replaced since. */
  #open(): number {
    if (this.#descriptor !== undefined) {
      const now = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
      if (now?.ino === this.#inode) return this.#descriptor;
      this.close();
    }
    this.#descriptor = openSync(this.#path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, FILE_MODE);
    this.#record = openSync(`${this.#path}.verified`, constants.O_RDWR | constants.O_CREAT, FILE_MODE);
    this.#inode = fstatSync(this.#descriptor, { bigint: true }).ino;
    this.#verified = this.#loadRecord(this.#descriptor) ?? NOTHING;
    return this.#descriptor;
  }

  /** Reads what has been added since the last look. */
  #verify(descriptor: number): Verified {
    const { size } = fstatSync(descriptor);
    if (size === this.#verified.bytes) return this.#verified;
    const from = size < this.#verified.bytes ? NOTHING : this.#verified;
    const scanner = new JournalScanner(
      {
        onLine: () => undefined,
        onProblem: (_bytes, problem, offset) => {
          throw new JournalError(
            "journal_damaged",
            `the journal ${this.#path} is damaged at byte ${offset} (${problem}); it is left as it is: ` +
              `agent-lifecycle journal repair ${this.#path}`,
          );
        },
      },
      this.#maxLineBytes,
      from,
    );
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let position = from.bytes; position < size; ) {
      const read = readSync(descriptor, chunk, 0, Math.min(CHUNK_BYTES, size - position), position);
      if (read === 0) break;
      position += read;
      scanner.push(chunk.subarray(0, read));
    }
    scanner.end();
    this.#verified = { bytes: size, journalSequence: scanner.journalSequence };
    return this.#verified;
  }

  #saveRecord(): void {
    if (this.#record === undefined) return;
    const text = JSON.stringify({ inode: String(this.#inode), ...this.#verified });
    try {
      writeSync(this.#record, Buffer.from(`${text.padEnd(RECORD_BYTES - 1)}\n`), 0, RECORD_BYTES, 0);
    } catch {
      // The next process reads more than it would have to.
    }
  }

  /** The record, if it is of this file and its last line is where and what it says. */
  #loadRecord(descriptor: number): Verified | undefined {
    try {
      const bytes = Buffer.alloc(RECORD_BYTES);
      readSync(this.#record ?? -1, bytes, 0, RECORD_BYTES, 0);
      const record = JSON.parse(bytes.toString()) as { readonly inode: string } & Verified;
      if (record.inode !== String(this.#inode) || !Number.isSafeInteger(record.bytes)) return undefined;
      const last = lastLine(descriptor, record.bytes, this.#maxLineBytes);
      return last !== undefined && sequenceOf(last) === record.journalSequence ? record : undefined;
    } catch {
      return undefined;
    }
  }
}

/** The line that ends at this byte of the file. */
function lastLine(descriptor: number, end: number, maxLineBytes: number): string | undefined {
  const bytes = Buffer.alloc(Math.min(end, maxLineBytes + 8));
  const read = readSync(descriptor, bytes, 0, bytes.length, end - bytes.length);
  if (read !== bytes.length || bytes.at(-1) !== LINE_FEED) return undefined;
  return bytes.subarray(bytes.lastIndexOf(LINE_FEED, bytes.length - 2) + 1).toString();
}
