import type { Schedule } from "@agent-lifecycle/collector/parts";

interface Planned {
  readonly callback: () => void;
  readonly delayMs: number;
  isCancelled: boolean;
}

/** Timers that run when a test says so. */
export class ManualSchedule {
  readonly #planned: Planned[] = [];
  readonly #watchers = new Set<() => void>();

  readonly schedule: Schedule = (callback, delayMs) => {
    const planned: Planned = { callback, delayMs, isCancelled: false };
    this.#planned.push(planned);
    this.#look();
    return () => {
      planned.isCancelled = true;
      this.#look();
    };
  };

  get plannedCount(): number {
    return this.#planned.length;
  }

  delayMs(index: number): number | undefined {
    return this.#planned[index]?.delayMs;
  }

  /** Runs one of them, by the order in which they were planned. @throws Error when it was cancelled or never planned. */
  run(index: number): void {
    const planned = this.#planned[index];
    if (planned === undefined || planned.isCancelled) throw new Error(`timer ${index} is not planned`);
    planned.callback();
  }

  /** Resolves when this many have been planned. */
  planned(count: number): Promise<void> {
    return this.#until(() => this.#planned.length >= count);
  }

  /** Resolves when this many have been cancelled. */
  cancelled(count: number): Promise<void> {
    return this.#until(() => this.#planned.filter(({ isCancelled }) => isCancelled).length >= count);
  }

  #until(isReached: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!isReached()) return;
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }

  #look(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }
}
