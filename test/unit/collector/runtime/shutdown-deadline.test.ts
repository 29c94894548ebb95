import { shutDownWithin } from "@agent-lifecycle/collector/parts";
import { expect, it } from "vitest";

/** Timers that elapse when a test says so. */
function manualTimers() {
  const planned = new Set<() => void>();
  return {
    planned,
    schedule: (callback: () => void, _delayMs: number) => {
      planned.add(callback);
      return () => void planned.delete(callback);
    },
    elapse: () => {
      for (const callback of planned) callback();
    },
  };
}

it("is on time when everything stops, and leaves no timer behind", async () => {
  const timers = manualTimers();
  const stoppable = { shutdown: async () => {}, runningParts: () => [] };
  expect(await shutDownWithin(stoppable, 1_000, timers.schedule)).toEqual({ kind: "stopped" });
  expect(timers.planned.size).toBe(0);
});

it("is late when the deadline comes first, and names what still runs", async () => {
  const timers = manualTimers();
  const stoppable = { shutdown: () => new Promise<void>(() => {}), runningParts: () => ["api", "writer"] };
  const outcome = shutDownWithin(stoppable, 1_000, timers.schedule);
  timers.elapse();
  expect(await outcome).toEqual({ kind: "late", runningParts: ["api", "writer"] });
});
