/** Where it is kept how far each exporter has come. */
export interface ExportCursors {
  /** Id of the newest input that the exporter is done with; 0 for an exporter that is new. */
  load(exporter: string): Promise<number>;
  /** Resolves when it is durable. Rejects when it cannot be kept: the exporter then begins further back next time. */
  save(exporter: string, inputId: number): Promise<void>;
}

/**
 * Keeps one exporter's cursor without ever waiting for it: one save at a time, and always of the newest. So a busy
 * exporter costs one flush after the other and no more, and what a crash loses is delivered once more.
 */
export class CursorKeeper {
  readonly #save: (inputId: number) => Promise<void>;
  readonly #onError: (error: unknown) => void;
  #wanted: number;
  #saved: number;
  #saving: Promise<void> | undefined;
  #isFailing = false;

  /** @param onError hears once of each episode in which the cursor cannot be kept */
  constructor(loaded: number, save: (inputId: number) => Promise<void>, onError: (error: unknown) => void) {
    this.#save = save;
    this.#onError = onError;
    this.#wanted = loaded;
    this.#saved = loaded;
  }

  get position(): number {
    return this.#wanted;
  }

  advance(inputId: number): void {
    this.#wanted = inputId;
    this.#saving ??= this.#saveNewest();
  }

  /** Resolves when the newest cursor is kept, or could not be. */
  async flush(): Promise<void> {
    while (this.#saving !== undefined) await this.#saving;
    if (this.#saved === this.#wanted) return;
    this.#saving = this.#saveNewest();
    await this.#saving;
  }

  async #saveNewest(): Promise<void> {
    try {
      while (this.#saved !== this.#wanted) {
        const inputId = this.#wanted;
        await this.#save(inputId);
        this.#saved = inputId;
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
