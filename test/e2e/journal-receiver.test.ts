import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openJournal } from "@agent-lifecycle/sdk/journal";
import { expect, it, onTestFinished } from "vitest";
import { type CollectorProcess, startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { makeEvent } from "../kit/events.ts";

interface Summary {
  readonly started: number;
}

async function heartbeats(collector: CollectorProcess, status: string): Promise<number> {
  const response = await fetch(new URL("/metrics", collector.apiUrl));
  const lines = (await response.text()).split("\n");
  const line = lines.find(
    (each) =>
      each.startsWith('agent_lifecycle_events_total{receiver="jsonl_file"') && each.includes(`status="${status}"`),
  );
  return line === undefined ? 0 : Number(line.split(" ").at(-1));
}

it("a journal is read on by a collector that was killed, with nothing lost and hardly anything read twice", async () => {
  const folder = temporaryDirectory();
  const path = join(folder, "events.jsonl");
  const database = join(folder, "collector.db");
  const configuration = join(folder, "collector.yaml");
  writeFileSync(configuration, `receivers:\n  jsonl_file/journal: { path: ${path} }\n`);
  const journal = openJournal({ path });
  onTestFinished(() => journal.close());
  let sequence = 0;
  const append = async (count: number): Promise<void> => {
    const events = Array.from({ length: count }, () => {
      sequence += 1;
      return makeEvent({ sequence, at: sequence, ...(sequence === 1 ? { state: "created" } : undefined) });
    });
    await journal.append(events);
  };
  const start = (): Promise<CollectorProcess> => startCollector(database, ["--config", configuration]);
  await append(500);
  const first = await start();
  await expect.poll(() => heartbeats(first, "applied"), { timeout: 20_000 }).toBeGreaterThanOrEqual(500);
  await first.endBy("SIGTERM");
  await append(100);
  renameSync(path, `${path}.1`);
  await append(50);
  const second = await start();
  await expect.poll(() => heartbeats(second, "applied"), { timeout: 20_000 }).toBe(150);
  expect(await heartbeats(second, "deduplicated")).toBe(0);
  expect((await second.get<Summary>("/api/v1/summary")).started).toBe(1);
  await second.endBy("SIGKILL");
});
