/** What one request holds of the budget. */
export interface ByteLease {
  /** Takes more; `false` when the budget has no more, and then nothing was taken. */
  take(bytes: number): boolean;
  /** Gives everything back. Safe twice. */
  release(): void;
}

/** Bounds what all requests together may hold in memory while their bodies are read and stored. */
export class ByteBudget {
  readonly #limitBytes: number;
  #heldBytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** What all requests hold together now. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  open(): ByteLease {
    let taken = 0;
    return {
      take: (bytes) => {
        if (this.#heldBytes + bytes > this.#limitBytes) return false;
        this.#heldBytes += bytes;
        taken += bytes;
        return true;
      },
      release: () => {
        this.#heldBytes -= taken;
        taken = 0;
      },
    };
  }
}
