import { closeSync, fstatSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { DEFAULT_MAX_LINE_BYTES } from "@agent-lifecycle/proto";
import { JournalError } from "./journal-error.ts";
import { JournalLock } from "./journal-lock.ts";
import { type JournalProblem, JournalScanner } from "./journal-scanner.ts";

export interface JournalDamage {
  readonly problem: JournalProblem;
  /** Where the line began, bytes from the start of the journal. */
  readonly byteOffset: number;
  readonly bytes: number;
}

export interface JournalRepair {
  /** Lines that are kept, as they are. */
  readonly lines: number;
  /** The last `journalSequence` that is kept; 0 when none is. */
  readonly journalSequence: number;
  readonly broken: number;
  /** The first 32. */
  readonly damages: readonly JournalDamage[];
  /** Where the broken bytes are now; absent when there are none. */
  readonly setAside?: string;
}

export interface RepairOptions {
  readonly path: string;
  /** Only looks. Default false. */
  readonly dryRun?: boolean;
  /** How long to wait for whoever holds the lock, milliseconds. Default 5,000. */
  readonly lockTimeoutMs?: number;
  readonly reclaimAfterMs?: number;
}

const CHUNK_BYTES = 1024 * 1024;
const FILE_MODE = 0o600;
const MAX_DAMAGES = 32;
const PAUSE_MS = 10;

/**
 * Makes a damaged journal one that can be appended to: its sound lines stay, byte for byte and in order; everything else
 * is set aside in a file beside it, byte for byte and in order too. Holds the journal's lock meanwhile. The journal is
 * replaced in one step, when both files are on the device: a crash leaves the old one or the new one.
 * @throws JournalError `journal_locked`; Error when the file cannot be read or written.
 */
export function repairJournal(options: RepairOptions): JournalRepair {
  const path = resolve(options.path);
  const lock = new JournalLock(`${path}.lock`, options.reclaimAfterMs ?? 10_000);
  acquire(lock, path, options.lockTimeoutMs ?? 5_000);
  try {
    return repair(path, options.dryRun === true);
  } finally {
    lock.release();
    lock.close();
  }
}

function acquire(lock: JournalLock, path: string, timeoutMs: number): void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const startedAt = performance.now();
  for (let attempt = lock.attempt(); !attempt.acquired; attempt = lock.attempt()) {
    if (performance.now() - startedAt >= timeoutMs) {
      lock.close();
      const holder = attempt.owner === undefined ? "somebody unknown" : `process ${attempt.owner.pid}`;
      throw new JournalError("journal_locked", `the journal ${path} is locked by ${holder}`);
    }
    Atomics.wait(cell, 0, 0, PAUSE_MS);
  }
}

function repair(path: string, dryRun: boolean): JournalRepair {
  const kept = new NewFile(`${path}.repairing`, dryRun);
  const brokenPath = `${path}.broken-${new Date().toISOString().replace(/[:.]/g, "-")}`;
  const broken = new NewFile(brokenPath, dryRun);
  const damages: { problem: JournalProblem; byteOffset: number; bytes: number }[] = [];
  let lines = 0;
  let count = 0;
  let lastOffset = -1;
  const scanner = new JournalScanner(
    {
      onLine: (bytes, sequence) => {
        if (sequence !== undefined) lines += 1;
        kept.write(bytes);
      },
      onProblem: (bytes, problem, byteOffset) => {
        broken.write(bytes);
        if (byteOffset !== lastOffset) {
          count += 1;
          lastOffset = byteOffset;
          if (damages.length < MAX_DAMAGES) damages.push({ problem, byteOffset, bytes: 0 });
        }
        const damage = damages.at(-1);
        if (damage?.byteOffset === byteOffset) damage.bytes += bytes.length;
      },
    },
    DEFAULT_MAX_LINE_BYTES,
    { bytes: 0, journalSequence: 0 },
  );
  try {
    readWhole(path, (chunk) => scanner.push(chunk));
    scanner.end();
    const found = { lines, journalSequence: scanner.journalSequence, broken: count, damages };
    if (dryRun || count === 0) return found;
    broken.finish();
    kept.finish();
    renameSync(kept.path, path);
    return { ...found, setAside: brokenPath };
  } catch (error) {
    broken.remove();
    throw error;
  } finally {
    kept.remove();
    if (count === 0) broken.remove();
  }
}

function readWhole(path: string, take: (chunk: Buffer) => void): void {
  const descriptor = openSync(path, "r");
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    // What is appended meanwhile by somebody who knows no lock is left to the next look.
    for (let left = fstatSync(descriptor).size; left > 0; ) {
      const read = readSync(descriptor, chunk, 0, Math.min(CHUNK_BYTES, left), null);
      if (read === 0) return;
      left -= read;
      take(chunk.subarray(0, read));
    }
  } finally {
    closeSync(descriptor);
  }
}

/** A file that is there when it is finished, or not at all. */
class NewFile {
  readonly path: string;
  readonly #descriptor: number | undefined;
  #finished = false;

  constructor(path: string, isPretended: boolean) {
    this.path = path;
    this.#descriptor = isPretended ? undefined : openSync(path, "w", FILE_MODE);
  }

  write(bytes: Uint8Array): void {
    if (this.#descriptor === undefined) return;
    for (let written = 0; written < bytes.byteLength; ) written += writeSync(this.#descriptor, bytes, written);
  }

  finish(): void {
    if (this.#descriptor === undefined || this.#finished) return;
    fsyncSync(this.#descriptor);
    closeSync(this.#descriptor);
    this.#finished = true;
  }

  /** Has no effect on what was finished and moved away; a finished one that is still here goes. */
  remove(): void {
    if (this.#descriptor === undefined) return;
    if (!this.#finished) closeSync(this.#descriptor);
    this.#finished = true;
    rmSync(this.path, { force: true });
  }
}
