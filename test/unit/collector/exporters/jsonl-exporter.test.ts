import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../kit/event-file.ts";
import { makeEvent } from "../../../kit/events.ts";
import { startExporting } from "./exporting-collector.ts";

function linesOf(path: string): readonly Record<string, unknown>[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("a line for each update, with the attributes of its log record, and none twice after a restart", async () => {
  const path = join(temporaryDirectory(), "below", "updates.jsonl");
  const collector = await startExporting({ jsonl: { path } });
  await collector.store(makeEvent({ state: "created", sequence: 1 }));
  await expect.poll(() => linesOf(path).length).toBe(1);
  await collector.stop();
  await collector.start();
  await collector.store(makeEvent({ state: "starting", sequence: 2, at: 1_000 }));
  await expect.poll(() => linesOf(path).length).toBe(2);
  expect(linesOf(path)[1]).toMatchObject({
    time: "2026-09-01T09:00:00.000Z",
    severity: "INFO",
    body: "child-1 is starting",
    attributes: { "agent_lifecycle.state": "starting", "agent_lifecycle.previous_state": "created" },
  });
});

test("activities are left out where they are not wanted", async () => {
  const path = join(temporaryDirectory(), "updates.jsonl");
  const collector = await startExporting({ jsonl: { path, activities: false } });
  await collector.store(
    makeEvent({ state: "created", sequence: 1 }),
    makeEvent({ kind: "activity", sequence: 2, at: 1, activity: "reads" }),
    makeEvent({ state: "starting", sequence: 3, at: 2 }),
  );
  await expect.poll(() => linesOf(path).length).toBe(2);
});

test("a large file is set aside, and of those that were only so many are kept", async () => {
  const path = join(temporaryDirectory(), "updates.jsonl");
  const collector = await startExporting({ jsonl: { path, maxFileBytes: 1, keptFiles: 2 } });
  for (const childId of ["a", "b", "c", "d"]) {
    await collector.store(makeEvent({ childId, state: "created", sequence: 1 }));
    await expect.poll(() => linesOf(path).map(({ body }) => body)).toEqual([`${childId} was created`]);
  }
  expect(linesOf(`${path}.1`)).toMatchObject([{ body: "c was created" }]);
  expect(linesOf(`${path}.2`)).toMatchObject([{ body: "b was created" }]);
  expect(existsSync(`${path}.3`)).toBe(false);
});

test.each([
  ["the first one", ""],
  ["a later one", '{"body":"before"}\n'],
])("half of a line that a killed process left is taken back, when it is %s", async (_, whole) => {
  const path = join(temporaryDirectory(), "updates.jsonl");
  writeFileSync(path, `${whole}{"body":"${"half".repeat(5_000)}`);
  const collector = await startExporting({ jsonl: { path } });
  await collector.store(makeEvent({ state: "created", sequence: 1 }));
  await expect.poll(() => readFileSync(path, "utf8").endsWith("\n")).toBe(true);
  const before = whole === "" ? [] : ["before"];
  expect(linesOf(path).map(({ body }) => body)).toEqual([...before, "child-1 was created"]);
});
