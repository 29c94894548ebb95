import type { Component } from "../runtime/component.ts";

/** A part under the name that a shutdown knows it by. */
export interface NamedPart {
  readonly name: string;
  readonly component: Component;
}

/** Parts that were started, the newest first: they stop in the reverse of the order of their start. */
export class RunningParts {
  readonly #parts: NamedPart[] = [];
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  get names(): readonly string[] {
    return this.#parts.map(({ name }) => name);
  }

  /** Starts them one after the other. Rejects with the first that cannot; those before it run. */
  async start(parts: readonly NamedPart[]): Promise<void> {
    for (const part of parts) {
      this.#parts.unshift(part);
      await part.component.start();
    }
  }

  /** One part that cannot stop must not keep the others from it. Never rejects. */
  async shutdown(): Promise<void> {
    for (let part = this.#parts[0]; part !== undefined; part = this.#parts[0]) {
      try {
        await part.component.shutdown();
      } catch (error) {
        this.#onError(error);
      }
      this.#parts.shift();
    }
  }
}

/** A part that has another one shut down before it stops. It starts by itself alone. */
export function stoppingFirst(first: Component, component: Component): Component {
  return {
    start: () => component.start(),
    shutdown: async () => {
      await first.shutdown();
      await component.shutdown();
    },
  };
}
