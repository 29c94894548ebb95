import { dirname, resolve } from "node:path";
import { canonicalEvent, DEFAULT_MAX_LINE_BYTES, normalizeEvent } from "@agent-lifecycle/proto";
import { makeFolder } from "../make-folder.ts";
import { JournalError } from "./journal-error.ts";
import { JournalFile } from "./journal-file.ts";
import { JournalLock, type LockOwner } from "./journal-lock.ts";

export interface JournalOptions {
  /** The file; made with mode 0600, and its directory where it is missing. */
  readonly path: string;
  /** How long to wait for a lock that somebody holds, milliseconds. Default 5,000. */
  readonly lockTimeoutMs?: number;
  /** How old the lock of a dead process must be before it is taken away, milliseconds. Default 10,000. */
  readonly reclaimAfterMs?: number;
  /** Whether each append is brought to the device before it is done. Default false. */
  readonly fsync?: boolean;
}

/** Where an append stands in its journal. */
export interface Appended {
  readonly firstSequence: number;
  readonly lastSequence: number;
}

/** An append-only file of events that cooperating processes write together (contract section 6). */
export interface Journal {
  readonly path: string;
  /**
   * Appends events, all or none, next to each other. Each is normalized and redacted, and gets the next
   * `journalSequence`. Calls are served in order.
   * @throws JournalError `journal_locked`, `journal_damaged`, `journal_entry_invalid` or `journal_closed`; Error when the
   * disk refuses. Nothing was appended then.
   */
  append(events: readonly unknown[]): Promise<Appended>;
  /** As `append`, in this turn: it blocks while it waits, for at most half a second. For a process's last moments. */
  appendNow(events: readonly unknown[]): Appended;
  /** Waits for the appends that were called; further ones are refused. */
  close(): Promise<void>;
}

const DEFAULT_LOCK_TIMEOUT_MS = 5_000;
const DEFAULT_RECLAIM_AFTER_MS = 10_000;
const LONGEST_BLOCK_MS = 500;
const SHORTEST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 25;
/** For the sequence that is added to a line. */
const SEQUENCE_BYTES = 40;

/** Opens a journal. Nothing is touched before the first append. */
export function openJournal(options: JournalOptions): Journal {
  return new LockedJournal(options);
}

/** @internal For lines that are canonical events already. */
export interface LineJournal extends Journal {
  appendLines(lines: readonly string[]): Promise<Appended>;
  appendLinesNow(lines: readonly string[]): Appended;
}

export class LockedJournal implements LineJournal {
  readonly path: string;
  readonly #lockTimeoutMs: number;
  readonly #lock: JournalLock;
  readonly #file: JournalFile;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor({ path, lockTimeoutMs, reclaimAfterMs, fsync }: JournalOptions) {
    this.path = resolve(path);
    this.#lockTimeoutMs = lockTimeoutMs ?? DEFAULT_LOCK_TIMEOUT_MS;
    this.#lock = new JournalLock(`${this.path}.lock`, reclaimAfterMs ?? DEFAULT_RECLAIM_AFTER_MS);
    this.#file = new JournalFile(this.path, DEFAULT_MAX_LINE_BYTES, fsync === true);
  }

  async append(events: readonly unknown[]): Promise<Appended> {
    return this.appendLines(events.map(lineOf));
  }

  appendNow(events: readonly unknown[]): Appended {
    return this.appendLinesNow(events.map(lineOf));
  }

  appendLines(lines: readonly string[]): Promise<Appended> {
    if (this.#closed) return Promise.reject(closed(this.path));
    const appended = this.#last.then(() => this.#appendPatiently(lines));
    this.#last = appended.catch(() => undefined);
    return appended;
  }

  appendLinesNow(lines: readonly string[]): Appended {
    if (this.#closed) throw closed(this.path);
    const cell = new Int32Array(new SharedArrayBuffer(4));
    for (let waited = 0; ; ) {
      const outcome = this.#try(lines);
      if (outcome.appended !== undefined) return outcome.appended;
      if (waited >= Math.min(LONGEST_BLOCK_MS, this.#lockTimeoutMs)) throw this.#locked(outcome.owner, waited);
      Atomics.wait(cell, 0, 0, SHORTEST_PAUSE_MS);
      waited += SHORTEST_PAUSE_MS;
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#last;
    this.#file.close();
    this.#lock.close();
  }

  async #appendPatiently(lines: readonly string[]): Promise<Appended> {
    const startedAt = performance.now();
    for (let pauseMs = SHORTEST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const outcome = this.#try(lines);
      if (outcome.appended !== undefined) return outcome.appended;
      const waitedMs = performance.now() - startedAt;
      if (waitedMs >= this.#lockTimeoutMs) throw this.#locked(outcome.owner, waitedMs);
      // Not all of them at the same moments.
      await new Promise((done) => setTimeout(done, pauseMs * (0.5 + Math.random())));
    }
  }

  /**
   * One attempt. The lock is taken and given back in one turn: other appends of this process cannot come in between, and
   * no other process waits for an event loop.
   */
  #try(lines: readonly string[]): { readonly appended?: Appended; readonly owner?: LockOwner | undefined } {
    makeFolder(dirname(this.path));
    const attempt = this.#lock.attempt();
    if (!attempt.acquired) return { owner: attempt.owner };
    try {
      if (lines.length === 0) return { appended: { firstSequence: 0, lastSequence: 0 } };
      const firstSequence = this.#file.append(lines.map((line) => line.slice(0, -1)));
      return { appended: { firstSequence, lastSequence: firstSequence + lines.length - 1 } };
    } finally {
      this.#lock.release();
    }
  }

  #locked(owner: LockOwner | undefined, waitedMs: number): JournalError {
    const holder = owner === undefined ? "somebody who left no readable record" : `process ${owner.pid}`;
    return new JournalError(
      "journal_locked",
      `the journal ${this.path} is locked by ${holder}; waited ${Math.round(waitedMs)} ms`,
    );
  }
}

function lineOf(event: unknown): string {
  const normalized = normalizeEvent(event);
  if (!normalized.ok) {
    const { path, text } = normalized.diagnostic;
    throw new JournalError("journal_entry_invalid", `${path || "the event"}: ${text ?? "breaks the contract"}`);
  }
  const line = canonicalEvent(normalized.event);
  if (Buffer.byteLength(line) + SEQUENCE_BYTES > DEFAULT_MAX_LINE_BYTES) {
    throw new JournalError("journal_entry_invalid", "the event is too long for a line of a journal");
  }
  return line;
}

function closed(path: string): JournalError {
  return new JournalError("journal_closed", `the journal ${path} is closed`);
}
