import { type Pressure, ProcessPressure } from "@agent-lifecycle/collector/parts";
import { describe, expect, test } from "vitest";
import { MachineClock } from "./machine-clock.ts";
import { ManualPace } from "./manual-pace.ts";

class WatchedProcess {
  readonly clock = new MachineClock();
  readonly pace = new ManualPace();
  usedBytes = 0;
  /** In use after a collection; without it a collection frees nothing. */
  liveBytes: number | undefined;
  collections = 0;
  readonly pressure = new ProcessPressure({
    clock: this.clock,
    maxEventLoopDelayMs: 1_000,
    maxMemoryBytes: 1_000,
    schedule: this.pace.schedule,
    usedMemoryBytes: () => this.usedBytes,
    collectGarbage: () => {
      this.collections += 1;
      this.usedBytes = this.liveBytes ?? this.usedBytes;
    },
  });

  static async start(): Promise<WatchedProcess> {
    const process = new WatchedProcess();
    await process.pressure.start();
    return process;
  }

  /** The next look comes this much too late. */
  lookLate(ms: number): Pressure | undefined {
    this.clock.pass((this.pace.plannedMs ?? 0) + ms);
    this.pace.fire();
    return this.pressure.current;
  }

  lookWith(usedBytes: number): Pressure | undefined {
    this.usedBytes = usedBytes;
    return this.lookLate(0);
  }
}

describe("an event loop that does not keep up", () => {
  test("is told from one that does by how late a timer comes", async () => {
    const process = await WatchedProcess.start();
    expect(process.lookLate(1_000)).toBeUndefined();
    expect(process.lookLate(1_001)).toBeUndefined();
    expect(process.lookLate(1_001)).toBe("event_loop");
    expect(process.pressure.eventLoopDelayMs).toBe(1_001);
  });

  test("is not seen in one late look: the machine may have been suspended", async () => {
    const process = await WatchedProcess.start();
    expect(process.lookLate(3_600_000)).toBeUndefined();
    expect(process.lookLate(0)).toBeUndefined();
  });

  test("has recovered only well below the limit", async () => {
    const process = await WatchedProcess.start();
    process.lookLate(2_000);
    process.lookLate(2_000);
    expect(process.lookLate(900)).toBe("event_loop");
    expect(process.lookLate(500)).toBeUndefined();
  });
});

describe("memory beyond the limit", () => {
  test("is pressure until it has fallen below it again", async () => {
    const process = await WatchedProcess.start();
    expect(process.lookWith(1_000)).toBeUndefined();
    expect(process.lookWith(1_001)).toBe("memory");
    expect(process.lookWith(951)).toBe("memory");
    expect(process.lookWith(950)).toBeUndefined();
  });

  test("that is garbage is collected and is no pressure: while nothing is let in nobody else would collect it", async () => {
    const process = await WatchedProcess.start();
    process.liveBytes = 300;
    expect(process.lookWith(2_000)).toBeUndefined();
    expect(process.collections).toBe(1);
  });

  test("is collected every ten seconds at most, however long it lasts", async () => {
    const process = await WatchedProcess.start();
    for (let look = 0; look < 250; look += 1) process.lookWith(2_000);
    expect(process.collections).toBe(3);
  });

  test("is measured in the process itself by default", async () => {
    const pace = new ManualPace();
    const pressure = new ProcessPressure({
      clock: new MachineClock(),
      maxEventLoopDelayMs: 1_000,
      maxMemoryBytes: 1,
      schedule: pace.schedule,
    });
    await pressure.start();
    pace.fire();
    expect(pressure.current).toBe("memory");
    await pressure.shutdown();
    expect(pace.plannedMs).toBeUndefined();
  });
});
