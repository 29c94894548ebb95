import assert from "node:assert/strict";
import { AsyncLocalStorage, createHook } from "node:async_hooks";
import { readdirSync, readlinkSync } from "node:fs";

/** Some timers of Node.js itself live for a second. */
const DEFAULT_SETTLE_MS = 5_000;
const LOOK_INTERVAL_MS = 10;

/** Kinds of open handles that come and go with the test runner, or are counted here by other means. */
const UNCOUNTED: ReadonlySet<string> = new Set(["Immediate", "Timeout", "TTYWrap", "MessagePort", "CloseReq"]);

/**
 * Runs work, and asserts that it has left nothing open: no timer, not even one that keeps no process alive, no socket,
 * no file, no watcher.
 * @param settleMs how long what was let go may take to be gone. Milliseconds; default 5,000
 * @throws AssertionError that lists what is still open after a while.
 */
export async function expectNothingLeftOpen(
  work: () => Promise<void>,
  settleMs: number = DEFAULT_SETTLE_MS,
): Promise<void> {
  const timers = new TimerLedger();
  const before = openHandles();
  try {
    await timers.watch(work);
    const until = performance.now() + settleMs;
    for (;;) {
      const open = [...timers.alive(), ...added(before, openHandles())];
      if (open.length === 0) return;
      if (performance.now() > until) assert.fail(`left open after shutdown: ${open.join(", ")}`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL_MS));
    }
  } finally {
    timers.close();
  }
}

/** Timers that were set by some work or by anything it began. */
class TimerLedger {
  readonly #context = new AsyncLocalStorage<true>();
  readonly #alive = new Map<number, NodeJS.Timeout>();
  readonly #hook = createHook({
    init: (id, type, _trigger, resource) => {
      if (type === "Timeout" && this.#context.getStore() === true) this.#alive.set(id, resource as NodeJS.Timeout);
    },
    destroy: (id) => {
      this.#alive.delete(id);
    },
  }).enable();

  watch(work: () => Promise<void>): Promise<void> {
    return this.#context.run(true, work);
  }

  alive(): readonly string[] {
    return [...this.#alive.values()].map(() => "a timer");
  }

  close(): void {
    this.#hook.disable();
  }
}

function openHandles(): readonly string[] {
  return [...process.getActiveResourcesInfo().filter((kind) => !UNCOUNTED.has(kind)), ...openFiles()];
}

/** Where the system tells, whatever has a descriptor: files are no handles of the event loop. */
function openFiles(): readonly string[] {
  const folder = "/proc/self/fd";
  let descriptors: readonly string[];
  try {
    descriptors = readdirSync(folder);
  } catch {
    return [];
  }
  return descriptors.flatMap((descriptor): readonly string[] => {
    try {
      const target = readlinkSync(`${folder}/${descriptor}`);
      return /^(?:\/(?!proc\/|dev\/)|socket:)/.test(target) ? [target] : [];
    } catch {
      return [];
    }
  });
}

/** What is there more often than before. */
function added(before: readonly string[], now: readonly string[]): readonly string[] {
  const left = new Map<string, number>();
  for (const name of before) left.set(name, (left.get(name) ?? 0) + 1);
  return now.filter((name) => {
    const count = left.get(name) ?? 0;
    left.set(name, count - 1);
    return count <= 0;
  });
}
