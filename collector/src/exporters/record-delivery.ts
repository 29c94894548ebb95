import type { ExportOutcome } from "../runtime/exporter.ts";
import type { RequestSender, SendOutcome } from "./send-outcome.ts";
import type { AsideList, SetAside } from "./set-aside.ts";

/** What one request is made of. */
export interface Deliverable<Item> {
  readonly inputId: number;
  readonly item: Item;
}

export interface DeliveryParts<Item> {
  readonly sender: RequestSender;
  readonly encode: (items: readonly Item[]) => Uint8Array;
  readonly aside: AsideList;
  readonly count: (outcome: "sent" | "rejected" | "set_aside", records: number) => void;
  /** Records of one request; default 1,000. */
  readonly maxPerRequest?: number;
  /**
   * Sends a request that asks for nothing: what the destination says to it tells whether the records are to blame. Without
   * it a record that the destination broke over is set aside after a longer while.
   */
  readonly probe?: (signal: AbortSignal) => Promise<SendOutcome>;
  /** Whether the destination has taken any record yet. One that has is believed at once when it refuses one. */
  readonly hasTaken: () => boolean;
  /** Hears of every record that is set aside, and why. */
  readonly onSetAside: (reason: string) => void;
  /** Hears what a destination says of what it took in part. */
  readonly onPartialSuccess: (message: string, rejected: number) => void;
}

/** A destination that broke so often over the same records is asked for nothing, which tells which of the two is to blame. */
const FAILURES_BEFORE_PROBE = 5;
/** With the waits in between, a quarter of an hour. */
const FAILURES_WITHOUT_PROBE = 20;
const DEFAULT_MAX_PER_REQUEST = 1_000;

/**
 * Delivers the records of one batch, and finds in it those that the destination will never take: a request that is
 * refused is halved until the record to blame is alone, which is set aside, and all others arrive. What was done of it is
 * remembered, so that an attempt that comes again does only the rest.
 */
export class RecordDelivery<Item> {
  readonly #parts: DeliveryParts<Item>;
  /** Pieces that are still to be delivered, in order. */
  #pieces: (readonly Deliverable<Item>[])[];
  #failures = 0;
  /** The destination has said to nothing what it does not say to records. */
  #isBelieved = false;

  constructor(records: readonly Deliverable<Item>[], parts: DeliveryParts<Item>) {
    this.#parts = parts;
    const { maxPerRequest = DEFAULT_MAX_PER_REQUEST } = parts;
    this.#pieces = [];
    for (let from = 0; from < records.length; from += maxPerRequest) {
      this.#pieces.push(records.slice(from, from + maxPerRequest));
    }
  }

  /** Goes on until everything is delivered or set aside, or has to wait. */
  async attempt(signal: AbortSignal): Promise<ExportOutcome> {
    for (let piece = this.#pieces[0]; piece !== undefined; piece = this.#pieces[0]) {
      const outcome = await this.#send(piece, signal);
      const waits = await this.#settle(piece, outcome, signal);
      if (waits !== undefined) return waits;
      if (signal.aborted && this.#pieces.length > 0) return { kind: "retry", reason: "out of time", afterMs: 0 };
    }
    return { kind: "delivered" };
  }

  async #send(piece: readonly Deliverable<Item>[], signal: AbortSignal): Promise<SendOutcome> {
    const { sender, encode } = this.#parts;
    return sender.send(encode(piece.map(({ item }) => item)), signal);
  }

  async #settle(
    piece: readonly Deliverable<Item>[],
    outcome: SendOutcome,
    signal: AbortSignal,
  ): Promise<ExportOutcome | undefined> {
    switch (outcome.kind) {
      case "taken":
        this.#taken(piece, outcome);
        return undefined;
      case "later": {
        const { reason, afterMs } = outcome;
        return { kind: "retry", reason, ...(afterMs === undefined ? undefined : { afterMs }) };
      }
      case "refused":
        return this.#refused(piece, outcome.reason, signal);
      case "failed":
        return this.#broken(piece, outcome.reason, signal);
    }
  }

  #taken(piece: readonly unknown[], { rejected, message }: Extract<SendOutcome, { readonly kind: "taken" }>): void {
    const { count, onPartialSuccess } = this.#parts;
    const lost = Math.min(rejected, piece.length);
    count("sent", piece.length - lost);
    if (lost > 0) count("rejected", lost);
    if (lost > 0 || message !== "") onPartialSuccess(message, lost);
    this.#pieces.shift();
    this.#failures = 0;
  }

  async #divide(piece: readonly Deliverable<Item>[], reason: string): Promise<void> {
    this.#failures = 0;
    const [only] = piece;
    if (piece.length > 1) {
      const middle = Math.ceil(piece.length / 2);
      this.#pieces.splice(0, 1, piece.slice(0, middle), piece.slice(middle));
      return;
    }
    this.#pieces.shift();
    if (only === undefined) return;
    this.#parts.count("set_aside", 1);
    this.#parts.onSetAside(reason);
    const refused: SetAside = { inputId: only.inputId, reason };
    await this.#parts.aside.add([refused]);
  }

  /**
   * A server that is no back end refuses everything by 400: one of TLS that is spoken to without, a proxy that knows no
   * such host. Nothing of what is stored may be lost to that, so that a destination that has taken nothing yet is asked for
   * nothing; if it says the same to that, the record is not to blame.
   */
  async #refused(
    piece: readonly Deliverable<Item>[],
    reason: string,
    signal: AbortSignal,
  ): Promise<ExportOutcome | undefined> {
    const { probe, hasTaken } = this.#parts;
    const isBelieved = piece.length > 1 || probe === undefined || hasTaken() || this.#isBelieved;
    if (!isBelieved) {
      this.#failures += 1;
      if (this.#failures < FAILURES_WITHOUT_PROBE) {
        const toNothing = await probe(signal);
        this.#isBelieved = hasJudged(toNothing) && !(toNothing.kind === "refused" && toNothing.reason === reason);
        // It may have been corrected between the two: the record is sent once more.
        return this.#isBelieved ? undefined : { kind: "retry", reason };
      }
    }
    await this.#divide(piece, reason);
    return undefined;
  }

  async #broken(
    piece: readonly Deliverable<Item>[],
    reason: string,
    signal: AbortSignal,
  ): Promise<ExportOutcome | undefined> {
    const { probe } = this.#parts;
    this.#failures += 1;
    const isToBlame =
      probe === undefined
        ? this.#failures >= FAILURES_WITHOUT_PROBE
        : this.#failures >= FAILURES_BEFORE_PROBE && hasJudged(await probe(signal));
    if (!isToBlame) return { kind: "retry", reason };
    await this.#divide(piece, reason);
    return undefined;
  }
}

/** It works: it has read the request. Loki refuses one without records, by words of its own. */
function hasJudged({ kind }: SendOutcome): boolean {
  return kind === "taken" || kind === "refused";
}
