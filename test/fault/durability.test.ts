import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { LifecycleEvent } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { historyOf } from "../kit/child-history.ts";
import { type CollectorProcess, startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { eventsOf } from "../kit/event-run.ts";
import { expectVerified } from "../kit/expect-verified.ts";
import { SeededRandom } from "../kit/seeded-random.ts";
import { ENCODINGS, type Encoding, submit } from "../kit/submit.ts";

const SOURCE = "runner";
const ROUNDS = 20;
const SENDERS = 6;
const EVENTS_PER_REQUEST = 40;
const MAX_REQUESTS_BEFORE_KILL = 50;
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

/** Sends until the collector is gone; a request without an answer is the sender's last. */
async function sendUntilGone(collector: CollectorProcess, sender: Sender, onAcknowledged: () => void): Promise<void> {
  for (let request = 0; ; request += 1) {
    const events = eventsOf(sender.childId, EVENTS_PER_REQUEST, request * EVENTS_PER_REQUEST);
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
  const { promise: loaded, resolve } = Promise.withResolvers<void>();
  const sending = senders.map((sender) =>
    sendUntilGone(collector, sender, () => {
      requests += 1;
      if (requests === killAfter.requests) resolve();
    }),
  );
  await loaded;
  // The moment itself: anywhere in the commits that follow.
  await delay(killAfter.delayMs);
  const { signal } = await collector.endBy("SIGKILL");
  expect(signal).toBe("SIGKILL");
  await Promise.all(sending);
}

async function expectStored(collector: CollectorProcess, sender: Sender): Promise<void> {
  const { childId, encoding, acknowledged, unanswered } = sender;
  const stored = await storedSequences(collector, childId);
  const sent = [...acknowledged, ...unanswered].map((event) => event.sequence);
  expect(stored, childId).toEqual(sent.slice(0, stored.length));
  expect(stored.length, childId).toBeGreaterThanOrEqual(acknowledged.length);
  // An OTLP request is stored whole or not at all; lines are stored as they stream in.
  if (encoding !== "lines") expect([acknowledged.length, sent.length], childId).toContain(stored.length);
}

/** A sender that got no answer sends again; what is there already is recognized. */
async function sendAgain(collector: CollectorProcess, senders: readonly Sender[]): Promise<void> {
  for (const sender of senders) {
    if (sender.unanswered.length === 0) continue;
    await submit(collector.ingestUrl, sender.unanswered, sender.encoding);
    sender.acknowledged.push(...sender.unanswered);
    sender.unanswered = [];
  }
}

async function storedSequences(collector: CollectorProcess, childId: string): Promise<readonly (number | undefined)[]> {
  const response = await fetch(new URL(`/api/v1/children/${SOURCE}/${childId}`, collector.apiUrl));
  await response.arrayBuffer();
  if (response.status === 404) return [];
  const inputs = await historyOf(collector, SOURCE, childId);
  return inputs.filter(({ type }) => type === "event").map(({ event }) => event?.sequence);
}

describe("what was acknowledged survives kill -9 of the collector (T12)", () => {
  test(`${ROUNDS} times on one database, exactly once, and the replay agrees`, { timeout: 120_000 }, async () => {
    const seed = Number(process.env["FAULT_SEED"] ?? Date.now() % 1_000_000);
    console.log(`durability: FAULT_SEED=${seed}`);
    const random = new SeededRandom(seed);
    const database = join(temporaryDirectory(), "collector.db");
    const everySender: Sender[] = [];
    let cutOff: readonly Sender[] = [];
    let requestsCutOff = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const collector = await startCollector(database);
      for (const sender of cutOff) await expectStored(collector, sender);
      await sendAgain(collector, cutOff);
      const senders = sendersOf(round);
      await killDuringLoad(collector, senders, {
        requests: 1 + random.below(MAX_REQUESTS_BEFORE_KILL),
        delayMs: random.below(MAX_DELAY_BEFORE_KILL_MS),
      });
      await expectVerified(database);
      everySender.push(...senders);
      requestsCutOff += senders.filter(({ unanswered }) => unanswered.length > 0).length;
      cutOff = senders;
    }
    const collector = await startCollector(database);
    for (const sender of cutOff) await expectStored(collector, sender);
    await sendAgain(collector, cutOff);
    for (const { childId, acknowledged } of everySender) {
      const stored = await storedSequences(collector, childId);
      expect(stored, childId).toEqual(acknowledged.map((event) => event.sequence));
    }
    await collector.endBy("SIGTERM");
    await expectVerified(database);
    // Without requests in flight at the kills, nothing was tested.
    expect(requestsCutOff).toBeGreaterThan(ROUNDS);
  });
});
