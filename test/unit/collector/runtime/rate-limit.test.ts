import { RateLimit } from "@agent-lifecycle/collector/parts";
import { describe, expect, test } from "vitest";
import { MachineClock } from "./machine-clock.ts";

function limitOf(perSecond: number): { readonly clock: MachineClock; readonly limit: RateLimit } {
  const clock = new MachineClock();
  return { clock, limit: new RateLimit({ perSecond, clock }) };
}

/** Requests that pass before the first that does not, at most `most`. */
function passing(limit: RateLimit, sender: string, most = 1_000): number {
  for (let count = 0; count < most; count += 1) if (limit.take(sender) > 0) return count;
  return most;
}

describe("a sender's rate", () => {
  test("lets a second's worth come at once, and then says how long to wait", () => {
    const { limit } = limitOf(10);
    expect(passing(limit, "fleet")).toBe(10);
    expect(limit.take("fleet")).toBeCloseTo(0.1, 5);
  });

  test("is earned back with time, up to a second's worth", () => {
    const { clock, limit } = limitOf(10);
    passing(limit, "fleet");
    clock.pass(500);
    expect(passing(limit, "fleet")).toBe(5);
    clock.pass(3_600_000);
    expect(passing(limit, "fleet")).toBe(10);
  });

  test("is each sender's own", () => {
    const { limit } = limitOf(2);
    passing(limit, "noisy");
    expect(passing(limit, "quiet")).toBe(2);
  });

  test("below one a second lets one pass now and then", () => {
    const { clock, limit } = limitOf(0.1);
    expect(passing(limit, "fleet")).toBe(1);
    clock.pass(9_000);
    expect(limit.take("fleet")).toBeCloseTo(1, 5);
    clock.pass(1_001);
    expect(limit.take("fleet")).toBe(0);
  });

  test("can be lowered while it runs", () => {
    const { limit } = limitOf(100);
    limit.take("fleet");
    limit.limitTo(3);
    expect(passing(limit, "fleet")).toBe(3);
  });

  test("takes bounded memory, and forgets the sender that was quiet for longest", () => {
    const { limit } = limitOf(1);
    limit.take("early");
    limit.take("busy");
    for (let index = 0; index < 9_999; index += 1) {
      limit.take(`sender-${index}`);
      limit.take("busy");
    }
    expect(limit.take("busy")).toBeGreaterThan(0);
    expect(limit.take("early")).toBe(0);
  });
});
