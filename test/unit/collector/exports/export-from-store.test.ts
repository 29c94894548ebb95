import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createUpdateFeed, ExportLoop, openSqliteStore, type Store } from "@agent-lifecycle/collector/parts";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../../../kit/event-file.ts";
import { MemoryCursors, ScriptedExporter } from "./export-bench.ts";

function append(store: Store, count: number): void {
  store.begin();
  for (let index = 0; index < count; index += 1) {
    store.append({
      input: { type: "resumed", at: index },
      childKey: undefined,
      status: "applied",
      diagnostic: undefined,
    });
  }
  store.commit();
}

describe("an exporter of a real database", () => {
  test("that stops reading in the middle holds up neither commits nor the database's own upkeep", async () => {
    const path = join(temporaryDirectory(), "collector.db");
    const store = openSqliteStore({ path });
    onTestFinished(() => store.close());
    append(store, 1_000);
    const exporter = new ScriptedExporter();
    const gate = Promise.withResolvers<void>();
    exporter.gate = gate.promise;
    const updates = createUpdateFeed((error) => {
      throw error;
    });
    const loop = new ExportLoop({
      id: "module/mine",
      exporter,
      exportLog: store,
      updates,
      cursors: new MemoryCursors(),
      log: { info: () => {}, error: () => {} },
      maxBatchInputs: 10,
    });
    await loop.start();
    await exporter.until(() => exporter.batches.length === 1);
    append(store, 10);
    updates.publish([{ inputId: 1_010, changes: [], audit: [] }]);
    // A read that is still open would keep the write-ahead log from being taken into the database whole.
    const other = new DatabaseSync(path);
    expect(other.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()).toMatchObject({ busy: 0, log: 0 });
    other.close();
    gate.resolve();
    await exporter.until(() => exporter.delivered.length === 1_010);
    expect(exporter.delivered).toEqual(Array.from({ length: 1_010 }, (_, index) => index + 1));
    await loop.shutdown();
  });
});
