/** Who a call is for, as far as sharing is concerned: calls with the same key stand in each other's way first. */
export interface CallToReceive {
  readonly sharingKey: string;
  /** The call's turn has come: its message may be read. Called at most once, and never during `enter`'s own run. */
  readonly onTurn: () => void;
}

/** What one call holds of the budget. */
export interface ReceiveLease {
  /** The message is there, and this large: what was set aside beyond that is free. */
  settle(bytes: number): void;
  /** Gives everything back, or leaves the queue. Safe twice. */
  release(): void;
}

export interface ReceiveBudgetOptions {
  /** Largest message, after decompression. Bytes. */
  readonly maxMessageBytes: number;
  /** All messages that are being received or stored. Bytes; at least one of the largest. */
  readonly limitBytes: number;
  /** Calls that wait for their turn; beyond it none is let in. */
  readonly maxWaiting: number;
}

interface Entry extends CallToReceive {
  /** `undefined` while it waits. */
  heldBytes: number | undefined;
  isSettled: boolean;
}

/**
 * Bounds what messages of all calls together may take. Nobody knows how large a message is before it is there, and gRPC
 * shows no part of it: so a call whose message is being received counts as the largest one, and those for which there is
 * no room wait their turn, unread. One sender receives in at most half of the places while others wait.
 */
export class ReceiveBudget {
  readonly #maxMessageBytes: number;
  readonly #limitBytes: number;
  readonly #maxWaiting: number;
  readonly #maxPlacesOfOne: number;
  readonly #waiting = new Set<Entry>();
  readonly #receiving = new Map<string, number>();
  #heldBytes = 0;

  constructor({ maxMessageBytes, limitBytes, maxWaiting }: ReceiveBudgetOptions) {
    this.#maxMessageBytes = maxMessageBytes;
    this.#limitBytes = Math.max(limitBytes, maxMessageBytes);
    this.#maxWaiting = maxWaiting;
    this.#maxPlacesOfOne = Math.max(1, Math.floor(this.#limitBytes / maxMessageBytes / 2));
  }

  /** @returns `undefined` when there are too many already. */
  enter(call: CallToReceive): ReceiveLease | undefined {
    if (this.#waiting.size >= this.#maxWaiting) return undefined;
    const entry: Entry = { ...call, heldBytes: undefined, isSettled: false };
    this.#waiting.add(entry);
    queueMicrotask(() => this.#takeTurns());
    return {
      settle: (bytes) => this.#settle(entry, bytes),
      release: () => this.#release(entry),
    };
  }

  #takeTurns(): void {
    for (const entry of this.#waiting) {
      if (this.#heldBytes + this.#maxMessageBytes > this.#limitBytes) return;
      const places = this.#receiving.get(entry.sharingKey) ?? 0;
      if (places >= this.#maxPlacesOfOne) continue;
      this.#waiting.delete(entry);
      this.#receiving.set(entry.sharingKey, places + 1);
      this.#heldBytes += this.#maxMessageBytes;
      entry.heldBytes = this.#maxMessageBytes;
      entry.onTurn();
    }
  }

  #settle(entry: Entry, bytes: number): void {
    if (entry.heldBytes === undefined || entry.isSettled) return;
    this.#heldBytes += bytes - entry.heldBytes;
    entry.heldBytes = bytes;
    this.#leavePlace(entry);
    this.#takeTurns();
  }

  #release(entry: Entry): void {
    if (this.#waiting.delete(entry) || entry.heldBytes === undefined) return;
    this.#heldBytes -= entry.heldBytes;
    entry.heldBytes = undefined;
    this.#leavePlace(entry);
    this.#takeTurns();
  }

  #leavePlace(entry: Entry): void {
    if (entry.isSettled) return;
    entry.isSettled = true;
    const places = (this.#receiving.get(entry.sharingKey) ?? 1) - 1;
    if (places === 0) this.#receiving.delete(entry.sharingKey);
    else this.#receiving.set(entry.sharingKey, places);
  }
}
