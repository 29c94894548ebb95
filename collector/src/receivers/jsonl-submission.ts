import {
  createJsonlReader,
  type Diagnostic,
  type JsonlItem,
  type JsonlProblem,
  type JsonlReader,
  MAX_JSONL_DIAGNOSTICS,
} from "@agent-lifecycle/proto";
import { type EventOutcome, type Intake, type Refusal, refusedFor } from "../runtime/intake.ts";

/** What is known of one line: its objections, with where it stands in its stream. */
export interface LineDiagnostic extends Diagnostic {
  readonly line: number;
}

/** What became of the lines of a stream; the counts add up to the lines that were not blank. */
export interface JsonlTally {
  /** Stored as new evidence, whatever it turned out to be. */
  readonly accepted: number;
  /** Known before; nothing changed. */
  readonly deduplicated: number;
  /** Broken lines and events that break the contract; nothing of them is kept. */
  readonly rejected: number;
  /** The first 32. */
  readonly diagnostics: readonly LineDiagnostic[];
}

export interface JsonlSubmissionOptions {
  readonly intake: Intake;
  readonly receiver: string;
  readonly backfill: boolean;
  /** The sources that the sender may speak for. Default: any. */
  readonly allowedSources?: ReadonlySet<string>;
  /** Default: the reader's own, 64 KiB. */
  readonly maxLineBytes?: number;
  /**
   * Called when the intake refuses a batch: resolve to have the same batch offered again, reject to give up. The
   * rejection comes out of `push` or `end`.
   */
  readonly onRefusal: (refusal: Refusal) => Promise<void>;
  /** For sources that nobody else answers for: lines that can never be stored are told and left out. Default `false`. */
  readonly leavesOutHopeless?: boolean;
  /** What came before the bytes that are pushed, for the places that problems name. Default: nothing. */
  readonly startsAt?: { readonly bytes: number; readonly lines: number };
}

const MAX_BATCH_LINES = 1_000;

interface Candidate {
  readonly value: unknown;
  readonly line: number;
}

/**
 * Hands the lines of a stream to the intake in batches. The next batch gathers while one is being stored, so that a slow
 * stream is passed on line by line and a fast one a thousand at a time; a caller that awaits `push` keeps to the store's
 * pace. Broken lines are reported and cost none of the others.
 */
export class JsonlSubmission {
  readonly #options: JsonlSubmissionOptions;
  readonly #reader: JsonlReader;
  readonly #diagnostics: LineDiagnostic[] = [];
  readonly #waiting: Candidate[] = [];
  #waitingBytes = 0;
  #running: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #accepted = 0;
  #deduplicated = 0;
  #rejected = 0;

  constructor(options: JsonlSubmissionOptions) {
    this.#options = options;
    const { maxLineBytes } = options;
    this.#reader = createJsonlReader(maxLineBytes === undefined ? {} : { maxLineBytes });
  }

  get tally(): JsonlTally {
    const { malformed, oversize, truncated } = this.#reader.problems;
    return {
      accepted: this.#accepted,
      deduplicated: this.#deduplicated,
      rejected: this.#rejected + malformed + oversize + truncated,
      diagnostics: [...this.#diagnostics],
    };
  }

  /** Takes the next bytes. Resolves when there is room for more. */
  async push(chunk: Uint8Array): Promise<void> {
    this.#waitingBytes += chunk.length;
    this.#take(this.#reader.push(chunk));
    while (this.#waiting.length >= MAX_BATCH_LINES) await this.#running;
    this.#throwFailure();
  }

  /** The stream ends: takes its last line, and resolves when everything is stored. */
  async end(): Promise<void> {
    this.#take(this.#reader.end());
    await this.settle();
    this.#reportUndescribed();
  }

  /** Resolves when everything taken so far is stored. */
  async settle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
    this.#throwFailure();
  }

  #take(items: readonly JsonlItem[]): void {
    for (const item of items) {
      if (item.ok) this.#waiting.push({ value: item.value, line: this.#linesBefore + item.line });
      else this.#report(item);
    }
    this.#run();
  }

  #run(): void {
    if (this.#running !== undefined || this.#failure !== undefined || this.#waiting.length === 0) return;
    this.#running = this.#submitNext()
      .catch((error: unknown) => {
        this.#failure = { error };
        this.#waiting.length = 0;
      })
      .finally(() => {
        this.#running = undefined;
        this.#run();
      });
  }

  async #submitNext(): Promise<void> {
    const bytesPerLine = this.#waitingBytes / this.#waiting.length;
    const batch = this.#waiting.splice(0, MAX_BATCH_LINES);
    const bytes = Math.ceil(bytesPerLine * batch.length);
    this.#waitingBytes = Math.max(0, this.#waitingBytes - bytes);
    await this.#submit(batch, bytes);
  }

  async #submit(batch: readonly Candidate[], bytes: number): Promise<void> {
    const { intake, receiver, backfill, allowedSources, onRefusal } = this.#options;
    const origin = { receiver, backfill, bytes, ...(allowedSources === undefined ? undefined : { allowedSources }) };
    const values = batch.map(({ value }) => value);
    for (;;) {
      const result = await intake.acceptEvents(values, origin);
      if (result.kind === "stored") {
        for (const [index, outcome] of result.outcomes.entries()) this.#count(outcome, batch[index]?.line ?? 0);
        return;
      }
      const isHopeless = result.kind === "unavailable" && !result.retryable;
      if (isHopeless && this.#options.leavesOutHopeless === true) return this.#submitApart(batch, bytes);
      await onRefusal(result);
    }
  }

  /** One line that can never be stored must not cost the others, nor stop the stream: it is looked for, told and left out. */
  async #submitApart(batch: readonly Candidate[], bytes: number): Promise<void> {
    const [first] = batch;
    if (batch.length > 1) {
      const middle = Math.ceil(batch.length / 2);
      await this.#submit(batch.slice(0, middle), Math.ceil(bytes / 2));
      await this.#submit(batch.slice(middle), Math.ceil(bytes / 2));
    } else if (first !== undefined) {
      this.#rejected += 1;
      const text = `line ${first.line} could not be processed`;
      this.#describe({ line: first.line, code: "invalid_event", text });
      this.#options.intake.reportProblem(this.#options.receiver, { code: "invalid_event", text });
    }
  }

  #count(outcome: EventOutcome, line: number): void {
    if (outcome.status === "deduplicated") this.#deduplicated += 1;
    else if (refusedFor(outcome) !== undefined) this.#rejected += 1;
    else this.#accepted += 1;
    for (const diagnostic of outcome.diagnostics) this.#describe({ line, ...diagnostic });
  }

  get #linesBefore(): number {
    return this.#options.startsAt?.lines ?? 0;
  }

  #report({ code, byteOffset: offset, line: number, excerpt }: JsonlProblem): void {
    const line = this.#linesBefore + number;
    const byteOffset = (this.#options.startsAt?.bytes ?? 0) + offset;
    this.#describe({ line, code, text: excerpt });
    this.#options.intake.reportProblem(this.#options.receiver, {
      code,
      text: `line ${line} at byte ${byteOffset}: ${excerpt}`,
    });
  }

  /** The reader describes the first problems and counts the rest: the rest is reported as a number. */
  #reportUndescribed(): void {
    const { malformed, oversize, truncated } = this.#reader.problems;
    const undescribed = malformed + oversize + truncated - MAX_JSONL_DIAGNOSTICS;
    if (undescribed <= 0) return;
    const text = `${undescribed} further broken lines`;
    this.#options.intake.reportProblem(this.#options.receiver, { code: "malformed", text });
  }

  #describe(diagnostic: LineDiagnostic): void {
    if (this.#diagnostics.length < MAX_JSONL_DIAGNOSTICS) this.#diagnostics.push(diagnostic);
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
