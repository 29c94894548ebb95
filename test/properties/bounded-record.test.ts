import { type ChildRecord, serializeRecord } from "@agent-lifecycle/collector/projection";
import type { LifecycleEvent } from "@agent-lifecycle/proto";
import { expect, test } from "vitest";
import { CoreRun } from "../kit/core-run.ts";
import { makeEvent } from "../kit/events.ts";
import { SeededRandom } from "../kit/seeded-random.ts";
import { START_MS } from "../kit/start-time.ts";

const EVENTS = 10_000;
/** Sixteen epochs and the identifiers at their longest, 64 ranges, an activity, and every reserved detail at its bound. */
const BOUND_BYTES = 24_000;

test.each([1, 2])("P17: a record stays small under 10,000 hostile events (seed %i)", (seed) => {
  const random = new SeededRandom(seed);
  const core = new CoreRun();
  let largest = 0;
  let record: ChildRecord | undefined;
  for (let index = 0; index < EVENTS; index += 1) {
    core.takeEvent(hostileEvent(random, index), START_MS + index);
    record = core.child("runner", "child-1");
    if (record !== undefined) largest = Math.max(largest, serializeRecord(record).length);
  }
  expect(largest).toBeGreaterThan(2_000);
  expect(largest).toBeLessThan(BOUND_BYTES);
  expect(record?.gaps.length).toBeLessThanOrEqual(64);
  expect(record?.supersededEpochs.length).toBeLessThanOrEqual(16);
  expect(core.records()).toHaveLength(1);
});

const KINDS = ["created", "state_changed", "state_changed", "activity", "heartbeat", "diagnostic"] as const;

/** Wide jumps, new epochs without end, long texts, all details; never an end, which would settle everything. */
function hostileEvent(random: SeededRandom, index: number): LifecycleEvent {
  const kind = random.pick(KINDS);
  const epoch = Math.floor(index / 500);
  return makeEvent({
    kind,
    eventId: `${index}`,
    at: index,
    sourceEpoch: `${epoch}`.padEnd(256, "e"),
    sequence: (index % 500) * 1_000 + random.below(900),
    activity: "a".repeat(1024),
    ...(kind === "created" ? { state: "created" } : {}),
    ...(kind === "state_changed" ? { state: random.pick(["starting", "running", "waiting"]) } : {}),
    details: {
      name: "n".repeat(256),
      agentType: `${index}`.padEnd(256, "t"),
      model: "m".repeat(256),
      routingProfile: "p".repeat(256),
      tool: "t".repeat(256),
      host: "h".repeat(200),
      transcriptRef: "r".repeat(900),
      resultRef: "r".repeat(900),
      waitingOn: { kind: "user", text: "w".repeat(900) },
      [`junk${index}`]: "j".repeat(4_000),
    },
  });
}
