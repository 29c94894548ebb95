import {
  type AdmissionRefusalReason,
  createAdmissionControl,
  type Pressure,
  RateLimit,
} from "@agent-lifecycle/collector/parts";
import { beforeEach, describe, expect, test } from "vitest";
import { MachineClock } from "./machine-clock.ts";

const OVERLOADED = { kind: "overloaded", retryAfterSeconds: 1 } as const;

describe("a request", () => {
  let pressure: Pressure | undefined;
  let unansweredBytes = 0;
  let writer: ReturnType<Parameters<typeof createAdmissionControl>[0]["writerRefusal"]>;
  let rateLimit: RateLimit | undefined;
  let refused: AdmissionRefusalReason[] = [];
  const clock = new MachineClock();
  const admission = createAdmissionControl({
    pressure: () => pressure,
    unansweredBytes: () => unansweredBytes,
    maxUnansweredBytes: 1_000,
    writerRefusal: () => writer,
    rateLimit: () => rateLimit,
    telemetry: { countAdmissionRefusal: (reason) => refused.push(reason) },
  });

  beforeEach(() => {
    pressure = undefined;
    unansweredBytes = 0;
    writer = undefined;
    rateLimit = undefined;
    refused = [];
  });

  test("is let in while nothing is too much", () => {
    expect(admission.refusal("fleet")).toBeUndefined();
    expect(refused).toEqual([]);
  });

  test.each(["event_loop", "memory"] as const)("is refused, to come again soon, under pressure of %s", (reason) => {
    pressure = reason;
    expect(admission.refusal("fleet")).toEqual(OVERLOADED);
    expect(refused).toEqual([reason]);
  });

  test("is refused while what was received before it waits for its answer", () => {
    unansweredBytes = 999;
    expect(admission.refusal("fleet")).toBeUndefined();
    unansweredBytes = 1_000;
    expect(admission.refusal("fleet")).toEqual(OVERLOADED);
    expect(refused).toEqual(["queue"]);
  });

  test("is refused when more is received than stored", () => {
    writer = OVERLOADED;
    expect(admission.refusal("fleet")).toEqual(OVERLOADED);
    expect(refused).toEqual(["queue"]);
  });

  test("is refused in the writer's own words when the store takes nothing", () => {
    writer = { kind: "unavailable", retryable: true, reason: "shutting down" };
    expect(admission.refusal("fleet")).toEqual(writer);
    expect(refused).toEqual([]);
  });

  test("of a sender that sends too much is refused for as long as some exporters wait, and no longer", () => {
    rateLimit = new RateLimit({ perSecond: 0.01, clock });
    expect(admission.refusal("noisy")).toBeUndefined();
    expect(admission.refusal("noisy")).toEqual({ kind: "rate_limited", retryAfterSeconds: 3 });
    expect(admission.refusal("quiet")).toBeUndefined();
    expect(refused).toEqual(["rate"]);
  });

  test("does not count against the sender's rate when it is refused for the others' sake", () => {
    rateLimit = new RateLimit({ perSecond: 1, clock });
    pressure = "event_loop";
    for (let attempt = 0; attempt < 10; attempt += 1) admission.refusal("fleet");
    pressure = undefined;
    expect(admission.refusal("fleet")).toBeUndefined();
  });
});
