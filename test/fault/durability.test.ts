import { join } from "node:path";
import type { LifecycleEvent } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { historyOf } from "../kit/child-history.ts";
import { type CollectorProcess, startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { makeEvent } from "../kit/events.ts";
import { runCommand } from "../kit/program.ts";
import { SeededRandom } from "../kit/seeded-random.ts";
import { ENCODINGS, type Encoding, submit } from "../kit/submit.ts";

const SOURCE = "runner";
const ROUNDS = 20;
const SENDERS = 6;
const EVENTS_PER_REQUEST = 40;
const MAX_REQUESTS_BEFORE_KILL = 60;
const MAX_DELAY_BEFORE_KILL_MS = 12;

/** One child and the program that reports it: its requests in order, each sent when the last one was acknowledged. */
interface Sender {
  readonly childId: string;
  readonly encoding: Encoding;
  readonly acknowledged: LifecycleEvent[];
  /** The request that got no answer. */
  unanswered: readonly LifecycleEvent[];
}

function sendersOf(round: number): readonly Sender[] {
  return Array.from({ length: SENDERS }, (_, index) => ({
    childId: `round-${round}-child-${index}`,
    encoding: ENCODINGS[index % ENCODINGS.length] ?? "protobuf",
    acknowledged: [],
    unanswered: [],
  }));
}

function requestOf(childId: string, request: number): readonly LifecycleEvent[] {
  const first = request * EVENTS_PER_REQUEST;
  return Array.from({ length: EVENTS_PER_REQUEST }, (_, index) => eventOf(childId, first + index));
}

function eventOf(childId: string, sequence: number): LifecycleEvent {
  const state = (["created", "starting", "running"] as const)[sequence];
  if (state !== undefined) return makeEvent({ childId, sequence, state, at: sequence });
  return sequence % 2 === 0
    ? makeEvent({ childId, sequence, at: sequence })
    : makeEvent({ childId, sequence, at: sequence, kind: "activity", activity: `step ${sequence}` });
}

/** Sends until the collector is gone; a request without an answer is the sender's last. */
async function sendUntilGone(collector: CollectorProcess, sender: Sender, onAcknowledged: () => void): Promise<void> {
  for (let request = 0; ; request += 1) {
    const events = requestOf(sender.childId, request);
    sender.unanswered = events;
    try {
      const { rejected } = await submit(collector.ingestUrl, events, sender.encoding);
      expect(rejected).toBe(0);
    } catch {
      return;
    }
    sender.acknowledged.push(...events);
    sender.unanswered = [];
    onAcknowledged();
  }
}

/** Kills the collector with SIGKILL while every sender has a request on its way. */
async function killDuringLoad(
  collector: CollectorProcess,
  senders: readonly Sender[],
  killAfter: { readonly requests: number; readonly delayMs: number },
): Promise<void> {
  let requests = 0;
  const loaded = new Promise<void>((resolve) => {
    const onAcknowledged = (): void => {
      requests += 1;
      if (requests === killAfter.requests) resolve();
    };
    for (const sender of senders) sending.push(sendUntilGone(collector, sender, onAcknowledged));
  });
  await loaded;
  // The moment itself: anywhere in the commits that follow.
  await new Promise((resolve) => setTimeout(resolve, killAfter.delayMs));
  const { signal } = await collector.endBy("SIGKILL");
  expect(signal).toBe("SIGKILL");
  await Promise.all(sending.splice(0));
}

const sending: Promise<void>[] = [];

async function expectStored(collector: CollectorProcess, sender: Sender, expected: "at least" | "exactly") {
  const sent = [...sender.acknowledged, ...sender.unanswered];
  const stored = sent.length === 0 ? [] : await storedSequences(collector, sender.childId);
  // What was not acknowledged was stored whole or not at all: a request is one transaction, a batch of lines as well.
  expect(stored, sender.childId).toEqual(sent.slice(0, stored.length).map((event) => event.sequence));
  if (expected === "exactly") expect(stored.length, sender.childId).toBe(sent.length);
  else expect([sender.acknowledged.length, sent.length], sender.childId).toContain(stored.length);
}

async function storedSequences(collector: CollectorProcess, childId: string): Promise<readonly (number | undefined)[]> {
  const response = await fetch(new URL(`/api/v1/children/${SOURCE}/${childId}`, collector.apiUrl));
  await response.arrayBuffer();
  if (response.status === 404) return [];
  const inputs = await historyOf(collector, SOURCE, childId);
  return inputs.filter((input) => input.type === "event").map(({ event }) => event?.sequence);
}

describe("what was acknowledged survives kill -9 of the collector", () => {
  test(`${ROUNDS} times on one database, exactly once each, and the replay agrees with the projection`, { timeout: 120_000 }, async () => {
    const seed = Number(process.env["FAULT_SEED"] ?? Date.now() % 1_000_000);
    console.log(`durability: FAULT_SEED=${seed}`);
    const random = new SeededRandom(seed);
    const database = join(temporaryDirectory(), "collector.db");
    const everySender: Sender[] = [];
    let before: readonly Sender[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const collector = await startCollector(database);
      for (const sender of before) await expectStored(collector, sender, "at least");
      // A sender that got no answer sends again; what is there already is recognized.
      for (const { unanswered, encoding } of before) {
        if (unanswered.length > 0) await submit(collector.ingestUrl, unanswered, encoding);
      }
      for (const sender of before) await expectStored(collector, sender, "exactly");
      const senders = sendersOf(round);
      await killDuringLoad(collector, senders, {
        requests: 1 + random.below(MAX_REQUESTS_BEFORE_KILL),
        delayMs: random.below(MAX_DELAY_BEFORE_KILL_MS),
      });
      everySender.push(...senders);
      before = senders;
      const { exitCode, stdout } = await runCommand(["verify", "--database", database, "--json"]);
      expect(JSON.parse(stdout.toString())).toMatchObject({ agrees: true, differingLines: 0, differentOutcomes: 0 });
      expect(exitCode).toBe(0);
    }
    const collector = await startCollector(database);
    for (const { unanswered, encoding } of before) {
      if (unanswered.length > 0) await submit(collector.ingestUrl, unanswered, encoding);
    }
    for (const sender of everySender) await expectStored(collector, sender, "exactly");
    const acknowledged = everySender.reduce((sum, sender) => sum + sender.acknowledged.length, 0);
    const unanswered = everySender.reduce((sum, sender) => sum + sender.unanswered.length, 0);
    // Every round had work in flight when it ended, or nothing was tested.
    expect(acknowledged).toBeGreaterThanOrEqual(ROUNDS * EVENTS_PER_REQUEST);
    expect(unanswered).toBeGreaterThan(0);
  });
});
