import type { ReplayWatermarks, WatermarkMemory } from "./replay-watermarks.ts";

/** Saves watermarks without ever waiting for it: one save at a time, and always of the newest. */
export class WatermarkKeeper {
  readonly #watermarks: ReplayWatermarks;
  readonly #memory: WatermarkMemory | undefined;
  readonly #onError: (error: unknown) => void;
  #isDirty = false;
  #isFailing = false;
  #saving: Promise<void> | undefined;

  /** @param onError hears once of each episode in which they cannot be kept */
  constructor(watermarks: ReplayWatermarks, memory: WatermarkMemory | undefined, onError: (error: unknown) => void) {
    this.#watermarks = watermarks;
    this.#memory = memory;
    this.#onError = onError;
  }

  async load(): Promise<void> {
    try {
      const record = await this.#memory?.load();
      if (record !== undefined) this.#watermarks.restore(record);
    } catch (error) {
      this.#onError(error);
    }
  }

  save(): void {
    this.#isDirty = true;
    this.#saving ??= this.#saveNewest();
  }

  /** Resolves when the newest are kept, or could not be. */
  async flush(): Promise<void> {
    await this.#saving;
  }

  async #saveNewest(): Promise<void> {
    try {
      while (this.#isDirty) {
        this.#isDirty = false;
        await this.#memory?.save(this.#watermarks.record());
      }
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#onError(error);
      this.#isFailing = true;
    } finally {
      this.#saving = undefined;
    }
  }
}
