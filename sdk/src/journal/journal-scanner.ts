import { isJsonObject } from "@agent-lifecycle/proto";

export type JournalProblem = "malformed" | "oversize" | "truncated" | "out_of_sequence";

/** Hears of every byte of a journal, in order, exactly once. */
export interface JournalVisitor {
  /** A whole line with its line end; `journalSequence` is absent for a blank one. */
  readonly onLine: (bytes: Uint8Array, journalSequence: number | undefined) => void;
  /** Bytes that belong in no journal. A line too long to be held comes in several calls, with the same offset. */
  readonly onProblem: (bytes: Uint8Array, problem: JournalProblem, lineOffset: number) => void;
}

const LINE_FEED = 0x0a;
const BYTE_ORDER_MARK_BYTES = 3;

/** Judges the lines of a journal as its bytes come, with at most one line in memory. */
export class JournalScanner {
  readonly #visitor: JournalVisitor;
  readonly #maxLineBytes: number;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #line: Buffer[] = [];
  #lineBytes = 0;
  #isOversize = false;
  #lineOffset: number;
  #sequence: number;

  /** @param from where the bytes begin, and the last sequence before them */
  constructor(
    visitor: JournalVisitor,
    maxLineBytes: number,
    from: { readonly bytes: number; readonly journalSequence: number },
  ) {
    this.#visitor = visitor;
    this.#maxLineBytes = maxLineBytes;
    this.#lineOffset = from.bytes;
    this.#sequence = from.journalSequence;
  }

  /** The highest sequence so far. */
  get journalSequence(): number {
    return this.#sequence;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      this.#take(chunk.subarray(start, end + 1));
      this.#finish(true);
      start = end + 1;
    }
    if (start < chunk.length) this.#take(chunk.subarray(start));
  }

  /** The journal ends here: a line without its line end is truncated, whatever is in it. */
  end(): void {
    if (this.#lineBytes > 0) this.#finish(false);
  }

  #take(bytes: Buffer): void {
    this.#lineBytes += bytes.length;
    if (!this.#isOversize && this.#lineBytes > this.#maxLineBytes + BYTE_ORDER_MARK_BYTES + 2) {
      this.#isOversize = true;
      for (const piece of this.#line) this.#visitor.onProblem(piece, "oversize", this.#lineOffset);
      this.#line = [];
    }
    if (this.#isOversize) this.#visitor.onProblem(bytes, "oversize", this.#lineOffset);
    // The chunk's memory is used again by whoever reads.
    else this.#line.push(Buffer.from(bytes));
  }

  #finish(terminated: boolean): void {
    if (!this.#isOversize) {
      const bytes = this.#line.length === 1 ? (this.#line[0] as Buffer) : Buffer.concat(this.#line);
      if (terminated) this.#judge(bytes);
      else this.#visitor.onProblem(bytes, "truncated", this.#lineOffset);
    }
    this.#lineOffset += this.#lineBytes;
    this.#line = [];
    this.#lineBytes = 0;
    this.#isOversize = false;
  }

  #judge(bytes: Buffer): void {
    const text = this.#decode(bytes);
    if (text?.trim() === "") {
      this.#visitor.onLine(bytes, undefined);
      return;
    }
    const sequence = text === undefined ? undefined : sequenceOf(text);
    if (sequence === undefined) this.#visitor.onProblem(bytes, "malformed", this.#lineOffset);
    else if (sequence <= this.#sequence) this.#visitor.onProblem(bytes, "out_of_sequence", this.#lineOffset);
    else {
      this.#sequence = sequence;
      this.#visitor.onLine(bytes, sequence);
    }
  }

  /** A byte-order mark is taken away by the decoder. */
  #decode(bytes: Buffer): string | undefined {
    try {
      return this.#decoder.decode(bytes);
    } catch {
      return undefined;
    }
  }
}

/** The sequence that a line states, or `undefined` when it is no line of a journal. */
export function sequenceOf(line: string): number | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const sequence = isJsonObject(value) ? value.journalSequence : undefined;
    return typeof sequence === "number" && Number.isSafeInteger(sequence) && sequence > 0 ? sequence : undefined;
  } catch {
    return undefined;
  }
}
