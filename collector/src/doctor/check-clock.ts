import type { Clock } from "../runtime/clock.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

/** Waits. Milliseconds. */
export type Wait = (ms: number) => Promise<void>;

const OBSERVED_MS = 250;
/** What clock corrections in good order stay far below in so short a time. */
const MAX_DRIFT_MS = 50;

const EARLIEST_MS = Date.UTC(2025, 0, 1);
const LATEST_MS = Date.UTC(2100, 0, 1);

/**
 * Whether the wall clock says a sane time and keeps pace with the monotonic one. Silence is measured with them. The time
 * zone does not matter: all times are UTC.
 */
export async function checkClock(clock: Clock, wait: Wait): Promise<readonly Finding[]> {
  const wallBefore = clock.wallNow();
  const monotonicBefore = clock.monotonicNow();
  await wait(OBSERVED_MS);
  const elapsedMs = clock.monotonicNow() - monotonicBefore;
  const wallNow = clock.wallNow();
  const driftMs = Math.round(wallNow - wallBefore - elapsedMs);
  const advice = "set the clock and keep it by NTP: children are judged by it";
  if (wallNow < EARLIEST_MS || wallNow >= LATEST_MS) {
    return [problem("clock", `the clock says ${new Date(wallNow).toISOString()}`, advice)];
  }
  if (Math.abs(driftMs) > MAX_DRIFT_MS) {
    const text = `the clock moved by ${driftMs} ms against the monotonic one within ${Math.round(elapsedMs)} ms`;
    return [warning("clock", text, advice)];
  }
  return [ok("clock", `${new Date(wallNow).toISOString()}, steady`)];
}
