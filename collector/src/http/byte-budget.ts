/** What one request holds of the budget. */
export interface ByteLease {
  /** Takes more; `false` when the budget has no more, and then nothing was taken. */
  take(bytes: number): boolean;
  /** Gives back a part that was not needed. */
  giveBack(bytes: number): void;
  /** Whether its body is slow to come: what is held then takes memory, and keeps nobody from being let in. */
  setSlow(isSlow: boolean): void;
  /** Gives everything back. Safe twice. */
  release(): void;
}

/** Bounds what all requests together may hold in memory while their bodies are read and stored. */
export class ByteBudget {
  readonly #limitBytes: number;
  #heldBytes = 0;
  #slowBytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** What all requests hold together now, save those whose bodies are slow to come. */
  get promptBytes(): number {
    return this.#heldBytes - this.#slowBytes;
  }

  open(): ByteLease {
    let taken = 0;
    let isSlow = false;
    const change = (bytes: number): void => {
      taken += bytes;
      this.#heldBytes += bytes;
      if (isSlow) this.#slowBytes += bytes;
    };
    const setSlow = (value: boolean): void => {
      if (value !== isSlow) this.#slowBytes += value ? taken : -taken;
      isSlow = value;
    };
    return {
      take: (bytes) => {
        if (this.#heldBytes + bytes > this.#limitBytes) return false;
        change(bytes);
        return true;
      },
      giveBack: (bytes) => change(-bytes),
      setSlow,
      release: () => change(-taken),
    };
  }
}
