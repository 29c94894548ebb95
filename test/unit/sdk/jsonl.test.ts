import { mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createJsonlReader, normalizeEvent } from "@agent-lifecycle/proto";
import { createLifecycle, type Lifecycle, SDK_VERSION } from "@agent-lifecycle/sdk";
import { describe, expect, it } from "vitest";
import { readEvents, temporaryDirectory } from "../../kit/event-file.ts";

function writingTo(path: string, source = "unit"): Lifecycle {
  return createLifecycle({ source, jsonl: { path }, exitHooks: false }, { environment: {} });
}

describe("a JSONL file", () => {
  it("holds lines that the collector's own reader takes, in order", async () => {
    const path = join(temporaryDirectory(), "events.jsonl");
    const lifecycle = writingTo(path);
    const child = lifecycle.child({ details: { name: "Zoë\u2028\n" } });
    child.starting();
    child.running();
    for (let index = 0; index < 5_000; index += 1) child.activity(`step ${index}`);
    child.completed();
    await lifecycle.shutdown();
    const reader = createJsonlReader();
    const items = [...reader.push(readFileSync(path)), ...reader.end()];
    expect(items).toHaveLength(5_004);
    const sequences = items.map((item) => {
      const normalized = "value" in item ? normalizeEvent(item.value) : undefined;
      return normalized?.ok === true ? normalized.event.sequence : item;
    });
    expect(sequences).toEqual(Array.from({ length: 5_004 }, (_, index) => index + 1));
  });

  it("is for its owner's eyes", async () => {
    const path = join(temporaryDirectory(), "events.jsonl");
    const lifecycle = writingTo(path);
    lifecycle.child();
    await lifecycle.shutdown();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("is appended to, after closing a line that a crash left unfinished", async () => {
    const path = join(temporaryDirectory(), "events.jsonl");
    writeFileSync(path, '{"whole":1}\n{"half":');
    const lifecycle = writingTo(path);
    lifecycle.child({ childId: "c" });
    await lifecycle.shutdown();
    const lines = readFileSync(path, "utf8").split("\n");
    expect(lines.slice(0, 2)).toEqual(['{"whole":1}', '{"half":']);
    expect(JSON.parse(lines[2] ?? "")).toMatchObject({ childId: "c" });
  });

  it("takes whole lines from several writers at once", async () => {
    const path = join(temporaryDirectory(), "events.jsonl");
    const lifecycles = ["a", "b", "c", "d"].map((source) => writingTo(path, source));
    for (let round = 0; round < 20; round += 1) {
      for (const lifecycle of lifecycles) for (let index = 0; index < 50; index += 1) lifecycle.child().cancelled();
      await Promise.all(lifecycles.map((lifecycle) => lifecycle.flush()));
    }
    await Promise.all(lifecycles.map((lifecycle) => lifecycle.shutdown()));
    const events = readEvents(path);
    expect(events).toHaveLength(4 * 20 * 50 * 2);
    for (const source of ["a", "b", "c", "d"])
      expect(events.filter((event) => event.source === source)).toHaveLength(2_000);
  });

  it("that cannot be opened costs its events, counted and told once, until it can", async () => {
    const path = join(temporaryDirectory(), "events.jsonl");
    mkdirSync(path);
    const lifecycle = writingTo(path);
    const child = lifecycle.child();
    await lifecycle.flush();
    child.starting();
    await lifecycle.flush();
    expect(lifecycle.counters()).toMatchObject({
      writtenToJsonl: 0,
      dropped: { jsonl_write_failed: 2 },
      diagnostics: { jsonl_write_failed: 1 },
    });
    rmdirSync(path);
    child.running();
    await lifecycle.shutdown();
    expect(readEvents(path).map((event) => event.state)).toEqual(["running"]);
    expect(lifecycle.counters()).toMatchObject({ writtenToJsonl: 1, dropped: { jsonl_write_failed: 2 } });
  });
});

it("the version that records and requests carry is the package's", () => {
  const manifest = readFileSync(new URL("../../../sdk/package.json", import.meta.url), "utf8");
  expect(JSON.parse(manifest)).toMatchObject({ version: SDK_VERSION });
});
