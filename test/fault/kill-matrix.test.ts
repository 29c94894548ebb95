import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { LifecycleEvent } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { makeEvent } from "../kit/events.ts";
import { expectVerified } from "../kit/expect-verified.ts";
import { startCommand } from "../kit/program.ts";
import { SeededRandom } from "../kit/seeded-random.ts";
import { submit } from "../kit/submit.ts";
import { EventStreamClient } from "../unit/collector/event-stream-client.ts";

const ROUNDS = 8;
const LIFE = ["created", "starting", "running", "completed"] as const;

const life = (childId: string): readonly LifecycleEvent[] =>
  LIFE.map((state, sequence) => makeEvent({ childId, state, sequence, at: sequence }));

function seeded(): SeededRandom {
  const seed = Number(process.env["FAULT_SEED"] ?? Date.now() % 1_000_000);
  console.log(`kill matrix: FAULT_SEED=${seed}`);
  return new SeededRandom(seed);
}

describe("kill -9", () => {
  test("of a collector that is read from: a stream that resumes by its cursor misses no child, and shows nothing that was not stored", {
    timeout: 120_000,
  }, async () => {
    const random = seeded();
    const database = join(temporaryDirectory(), "collector.db");
    const acknowledged = new Set<string>();
    const shown = new Map<string, string>();
    let cursor: number | undefined;
    let children = 0;
    for (let round = 0; round <= ROUNDS; round += 1) {
      const collector = await startCollector(database);
      const stream = await EventStreamClient.open(collector.apiUrl, cursor === undefined ? "" : `?after=${cursor}`);
      const isLastRound = round === ROUNDS;
      const killed = isLastRound ? undefined : delay(100 + random.below(600)).then(() => collector.endBy("SIGKILL"));
      let isGone = isLastRound;
      void killed?.then(() => {
        isGone = true;
      });
      while (!isGone) {
        children += 1;
        const childId = `child-${children}`;
        try {
          await submit(collector.ingestUrl, life(childId));
          acknowledged.add(childId);
        } catch {
          // It is gone: whether this one was stored is not known.
        }
      }
      if (isLastRound) {
        await stream.until(() =>
          [...acknowledged].every((childId) => (stream.children.get(childId) ?? shown.get(childId)) === "completed"),
        );
      }
      for (const [childId, state] of stream.children) shown.set(childId, state);
      if (stream.lastId > 0) cursor = stream.lastId;
      stream.close();
      if (!isLastRound) continue;
      // Whoever was shown is there, and as it was shown.
      for (const [childId, state] of shown) {
        expect(await collector.get(`/api/v1/children/runner/${childId}`)).toMatchObject({ state });
      }
      await collector.endBy("SIGTERM");
    }
    expect(acknowledged.size).toBeGreaterThan(ROUNDS);
    await expectVerified(database);
  });

  test("while a collector starts, again and again, and then at its shutdown, loses nothing", {
    timeout: 120_000,
  }, async () => {
    const random = seeded();
    const database = join(temporaryDirectory(), "collector.db");
    const first = await startCollector(database);
    const lives = Array.from({ length: 2_000 }, (_, index) => life(`child-${index}`));
    for (let start = 0; start < lives.length; start += 100)
      await submit(first.ingestUrl, lives.slice(start, start + 100).flat());
    // What lies after the last checkpoint is replayed by every start.
    await first.endBy("SIGKILL");
    for (let round = 0; round < ROUNDS; round += 1) {
      const starting = startCommand(["collector", "--database", database, "--ingest-port", "0", "--api-port", "0"]);
      await delay(random.below(900));
      starting.process.kill("SIGKILL");
      await starting.end;
      await expectVerified(database);
    }
    for (let round = 0; round < 3; round += 1) {
      const collector = await startCollector(database);
      expect(await collector.get("/api/v1/summary")).toMatchObject({ started: lives.length, live: 0 });
      collector.program.process.kill("SIGTERM");
      await delay(random.below(60));
      await collector.endBy("SIGKILL");
      await expectVerified(database);
    }
  });
});
