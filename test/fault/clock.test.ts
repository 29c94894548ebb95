import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { InputsPage } from "@agent-lifecycle/proto";
import { describe, expect, onTestFinished, test } from "vitest";
import { openChildStream } from "../kit/child-stream.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { makeEvent } from "../kit/events.ts";
import { fixture, runCommand } from "../kit/program.ts";
import { START_MS } from "../kit/start-time.ts";
import { submit } from "../kit/submit.ts";

/** As in the program. */
const STALE_AFTER_MS = 3_000;
const ONE_HOUR_MS = 3_600_000;

interface SteeredCollector {
  readonly ingestUrl: string;
  readonly apiUrl: string;
  /** Both clocks of its machine move by so much. Milliseconds. */
  step(by: { readonly wall?: number; readonly monotonic?: number }): Promise<void>;
  stop(): Promise<void>;
}

async function startSteered(database: string): Promise<SteeredCollector> {
  const program: ChildProcess = fork(fixture("collector-with-clock.mjs"), [database], {
    execArgv: ["--conditions=@agent-lifecycle/source"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  onTestFinished(() => void program.kill("SIGKILL"));
  const [{ ingestUrl, apiUrl }] = (await once(program, "message")) as [{ ingestUrl: string; apiUrl: string }];
  return {
    ingestUrl,
    apiUrl,
    step: async (by) => {
      program.send(by);
      await once(program, "message");
    },
    stop: async () => {
      const ended = once(program, "exit");
      program.disconnect();
      await ended;
    },
  };
}

const beginning = (["created", "starting", "running"] as const).map((state, sequence) =>
  makeEvent({ sequence, state, at: Date.now() - START_MS, capabilities: { heartbeat: "known" } }),
);

const STEPS = {
  "forward by an hour": { wall: ONE_HOUR_MS },
  "back by an hour": { wall: -ONE_HOUR_MS },
  "with the monotonic one, as after an hour in which nothing ran": { wall: ONE_HOUR_MS, monotonic: ONE_HOUR_MS },
} as const;

describe("a wall clock that steps", () => {
  for (const [name, by] of Object.entries(STEPS)) {
    test(`${name} makes nobody stale; a true silence after it does, and is timed right`, {
      timeout: 30_000,
    }, async () => {
      const database = join(temporaryDirectory(), "collector.db");
      const collector = await startSteered(database);
      await submit(collector.ingestUrl, beginning);
      const stream = await openChildStream(collector.apiUrl);
      const steppedAt = performance.now();
      await collector.step(by);
      const stale = await stream.until((child) => child.stale !== null);
      expect(performance.now() - steppedAt).toBeGreaterThan(STALE_AFTER_MS - 500);
      expect(stale.state).toBe("running");
      await stream.until(({ state }) => state === "lost");
      await collector.stop();
      const { exitCode } = await runCommand(["verify", "--database", database]);
      expect(exitCode).toBe(0);
    });
  }

  test("again and again keeps a child that speaks fresh, its inputs in order and its times sane", {
    timeout: 30_000,
  }, async () => {
    const database = join(temporaryDirectory(), "collector.db");
    const collector = await startSteered(database);
    await submit(collector.ingestUrl, beginning);
    const stream = await openChildStream(collector.apiUrl);
    for (let step = 0; step < 12; step += 1) {
      await collector.step({ wall: step % 2 === 0 ? ONE_HOUR_MS : -ONE_HOUR_MS });
      await submit(collector.ingestUrl, [makeEvent({ sequence: 3 + step, at: Date.now() - START_MS })]);
    }
    const at = Date.now() - START_MS;
    await submit(collector.ingestUrl, [makeEvent({ sequence: 15, state: "completed", at })]);
    await stream.until(({ state }) => state === "completed");
    expect(stream.seen.filter((child) => child.stale !== null)).toEqual([]);
    const response = await fetch(new URL("/api/v1/children/runner/child-1/events?limit=100", collector.apiUrl));
    const { inputs } = (await response.json()) as InputsPage;
    const ids = inputs.map(({ inputId }) => inputId);
    expect(ids).toEqual(ids.toSorted((first, second) => first - second));
    for (const { at: received } of inputs) expect(Number.isFinite(Date.parse(received))).toBe(true);
    await collector.stop();
  });
});

test("a clock that steps back while a question is open gives the child its whole time to answer", {
  timeout: 30_000,
}, async () => {
  const collector = await startSteered(join(temporaryDirectory(), "collector.db"));
  await submit(collector.ingestUrl, beginning);
  const stream = await openChildStream(collector.apiUrl);
  await stream.until((child) => child.stale !== null);
  await collector.step({ wall: -ONE_HOUR_MS });
  await submit(collector.ingestUrl, [makeEvent({ sequence: 3, at: Date.now() - START_MS })]);
  const answered = await stream.until((child) => child.stale === null && child.heartbeatAt !== null);
  expect(answered.state).toBe("running");
  expect(stream.seen.filter(({ state }) => state === "lost")).toEqual([]);
  await collector.stop();
});
