import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { ChildView, LifecycleEvent } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { type CollectorProcess, startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { makeEvent } from "../kit/events.ts";
import { runCommand, startCommand } from "../kit/program.ts";
import { SeededRandom } from "../kit/seeded-random.ts";
import { START_MS } from "../kit/start-time.ts";
import { submit } from "../kit/submit.ts";

const ROUNDS = 12;
const SHORT_LIFE = ["created", "starting", "running", "completed"] as const;
const SHORT_LIVES_PER_REQUEST = 40;

/** What was received a second ago goes, a few times a second. */
const RETENTION =
  "storage: { retention: { max_age: 1s, interval: 100ms } }\nlifecycle: { stale_after: 700ms, reconcile_deadline: 200ms }\n";

/** Reports of now: what is older than the log is refused. */
const now = (): number => Date.now() - START_MS;

function shortLife(childId: string): readonly LifecycleEvent[] {
  return SHORT_LIFE.map((state, sequence) => makeEvent({ source: "short", childId, state, sequence, at: now() }));
}

/** A child that goes on and on; its state was stated once, at the beginning. */
class LongLife {
  sequence = 0;

  next(): LifecycleEvent {
    const { sequence } = this;
    const state = (["created", "starting", "running"] as const)[sequence];
    this.sequence += 1;
    const members = state === undefined ? { kind: "activity" as const, activity: `step ${sequence}` } : { state };
    return makeEvent({ source: "long", childId: "survivor", sequence, at: now(), ...members });
  }
}

interface Summary {
  readonly started: number;
  readonly live: number;
  readonly position: number;
}

async function metric(collector: CollectorProcess, name: string): Promise<number> {
  const text = await (await fetch(new URL("/metrics", collector.apiUrl))).text();
  const line = text.split("\n").find((candidate) => candidate.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? Number.NaN);
}

async function verification(database: string): Promise<unknown> {
  const { stdout } = await runCommand(["verify", "--database", database, "--json"]);
  return JSON.parse(stdout.toString()) as unknown;
}

describe("retention in a collector that is killed again and again", () => {
  test(`${ROUNDS} times, wherever it is: nothing that is kept changes, live children stay, and the rest goes`, {
    timeout: 120_000,
  }, async () => {
    const seed = Number(process.env["FAULT_SEED"] ?? Date.now() % 1_000_000);
    console.log(`retention: FAULT_SEED=${seed}`);
    const random = new SeededRandom(seed);
    const folder = temporaryDirectory();
    const database = join(folder, "collector.db");
    const file = join(folder, "collector.yaml");
    writeFileSync(file, RETENTION);
    const survivor = new LongLife();
    let acknowledged = 0;
    let shortLives = 0;
    let removed = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const collector = await startCollector(database, ["--config", file]);
      const killed = delay(300 + random.below(1_200)).then(() => collector.endBy("SIGKILL"));
      let isGone = false;
      void killed.then(() => {
        isGone = true;
      });
      while (!isGone) {
        const lives = Array.from({ length: SHORT_LIVES_PER_REQUEST }, () => {
          shortLives += 1;
          return shortLife(`short-${shortLives}`);
        });
        const sequence = survivor.sequence;
        try {
          await submit(collector.ingestUrl, [survivor.next(), ...lives.flat()]);
          acknowledged = sequence + 1;
          removed = Math.max(removed, await metric(collector, "agent_lifecycle_input_log_removed_position"));
        } catch {
          // It is gone. Whether this one was stored is not known: the next continues after it.
        }
      }
      expect((await killed).signal).toBe("SIGKILL");
      expect(await verification(database)).toMatchObject({ agrees: true });
    }
    const collector = await startCollector(database, ["--config", file]);
    const child = await collector.get<ChildView>("/api/v1/children/long/survivor");
    expect(child).toMatchObject({ state: "running", history: "complete" });
    expect(child.highestSequence).toBeGreaterThanOrEqual(acknowledged - 1);
    // In the end all short lives go: their time has come, and the one that lives stays.
    let summary = await collector.get<Summary>("/api/v1/summary");
    while (summary.started > 1) {
      await delay(100);
      summary = await collector.get<Summary>("/api/v1/summary");
    }
    expect(summary).toMatchObject({ started: 1, live: 1 });
    expect(summary.position).toBeGreaterThan(4 * SHORT_LIVES_PER_REQUEST);
    expect(removed).toBeGreaterThan(0);
    await collector.endBy("SIGTERM");
    expect(await verification(database)).toMatchObject({ agrees: true, children: 1 });
    const restarted = await startCollector(database, ["--config", file]);
    expect(await restarted.get("/api/v1/summary")).toMatchObject({ started: 1, live: 1 });
    expect(await restarted.get<ChildView>("/api/v1/children/long/survivor")).toMatchObject({ state: "running" });
    await restarted.endBy("SIGTERM");
  });
});

describe("a collector that is killed while it starts", () => {
  test("again and again, wherever it is in the replay, starts at last with all that was acknowledged", {
    timeout: 120_000,
  }, async () => {
    const seed = Number(process.env["FAULT_SEED"] ?? Date.now() % 1_000_000);
    console.log(`start-up: FAULT_SEED=${seed}`);
    const random = new SeededRandom(seed);
    const folder = temporaryDirectory();
    const database = join(folder, "collector.db");
    const file = join(folder, "collector.yaml");
    writeFileSync(file, RETENTION);
    const survivor = new LongLife();
    const first = await startCollector(database);
    for (let request = 0; request < 30; request += 1) {
      await submit(
        first.ingestUrl,
        Array.from({ length: 300 }, () => survivor.next()),
      );
    }
    // Killed before a checkpoint: every start has all of it to replay.
    await first.endBy("SIGKILL");
    const startedAt = performance.now();
    const whole = await startCollector(database);
    const startMs = performance.now() - startedAt;
    await whole.endBy("SIGKILL");
    for (let round = 0; round < ROUNDS; round += 1) {
      const ports = ["--ingest-port", "0", "--api-port", "0"];
      const starting = startCommand(["collector", "--database", database, "--config", file, ...ports]);
      await delay(random.below(Math.ceil(startMs * 1.2)));
      starting.process.kill("SIGKILL");
      await starting.end;
      expect(await verification(database)).toMatchObject({ agrees: true });
    }
    const collector = await startCollector(database);
    expect(await collector.get<ChildView>("/api/v1/children/long/survivor")).toMatchObject({
      state: "running",
      highestSequence: survivor.sequence - 1,
      conflicts: 0,
      outOfOrder: 0,
    });
    await collector.endBy("SIGTERM");
  });
});

describe("what retention has removed", () => {
  test("does not come back by a journal that is read again, and lives no second life", {
    timeout: 60_000,
  }, async () => {
    const folder = temporaryDirectory();
    const file = join(folder, "collector.yaml");
    writeFileSync(file, RETENTION);
    const collector = await startCollector(join(folder, "collector.db"), ["--config", file]);
    const old = shortLife("old");
    await submit(collector.ingestUrl, old);
    for (;;) {
      const { started } = await collector.get<Summary>("/api/v1/summary");
      if (started === 0) break;
      await delay(100);
    }
    expect(await submit(collector.ingestUrl, old)).toEqual({ rejected: old.length });
    const { diagnostics } = await collector.get<{ readonly diagnostics: readonly { readonly code: string }[] }>(
      "/api/v1/diagnostics?code=beyond_retention",
    );
    expect(diagnostics).toHaveLength(old.length);
    expect((await collector.get<Summary>("/api/v1/summary")).started).toBe(0);
    await collector.endBy("SIGTERM");
  });
});
