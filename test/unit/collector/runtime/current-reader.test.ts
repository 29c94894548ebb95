import { describe, expect, test } from "vitest";
import { eventsOf } from "../../../kit/event-run.ts";
import { makeEvent } from "../../../kit/events.ts";
import { offer, startEmbedded, store } from "./embedded-collector.ts";

describe("a reader", () => {
  test("finds in its next answer everything that was acknowledged, whatever it asks", async () => {
    const { collector } = await startEmbedded();
    const { reader } = collector;
    let before = reader.lastInputId();
    for (let round = 0; round < 5; round += 1) {
      const childId = `child-${round}`;
      await store({ collector }, ...eventsOf(childId, 3), makeEvent({ childId, sequence: 9, state: "failed", at: 9 }));
      const listed = reader.children({ limit: 10 });
      expect(listed.map((record) => record.childId)).toEqual(
        Array.from({ length: round + 1 }, (_, index) => `child-${round - index}`),
      );
      expect(reader.child("runner", childId)).toEqual(listed[0]);
      expect(reader.childrenChangedSince(before, 10)).toEqual([{ record: listed[0], updatedInputId: before + 4 }]);
      expect(reader.sources()).toEqual([{ source: "runner", children: round + 1 }]);
      expect(reader.inputsOfChild(round, 0, 10).map(({ inputId, status }) => [inputId, status])).toEqual([
        [before + 1, "applied"],
        [before + 2, "applied"],
        [before + 3, "applied"],
        [before + 4, "provisional"],
      ]);
      expect(reader.diagnostics({ limit: 1 })).toMatchObject([{ childId, diagnostic: { code: "sequence_gap" } }]);
      expect(reader.summary()).toMatchObject({ started: round + 1, live: 0, byState: { failed: round + 1 } });
      expect(reader.lastInputId()).toBe(before + 4);
      before = reader.lastInputId();
    }
  });

  test("does not see what is not acknowledged yet", async () => {
    const { collector } = await startEmbedded();
    const { reader } = collector;
    const waiting = offer({ collector }, eventsOf("a", 3));
    expect(reader.child("runner", "a")).toBeUndefined();
    expect(reader.children({ limit: 10 })).toEqual([]);
    expect(reader.summary().started).toBe(0);
    await waiting;
    expect(reader.children({ limit: 10 })).toHaveLength(1);
  });

  test("is told of an epoch change by the audit (P21)", async () => {
    const { collector } = await startEmbedded();
    await store({ collector }, ...eventsOf("a", 3));
    const restarted = makeEvent({ childId: "a", sourceEpoch: "epoch-2", sequence: 0, state: "running", at: 10 });
    await store({ collector }, restarted);
    const entries = collector.reader.audit({ childKey: 0, afterInputId: 0, limit: 10 });
    expect(entries).toMatchObject([{ entry: { reason: "epoch_changed", childId: "a" } }]);
    expect(collector.reader.audit({ afterInputId: 0, limit: 10 })).toEqual(entries);
    expect(collector.reader.audit({ childKey: 1, afterInputId: 0, limit: 10 })).toEqual([]);
  });

  test("that asks again writes nothing when nothing has come", async () => {
    const { collector, faults } = await startEmbedded();
    await store({ collector }, ...eventsOf("a", 3));
    collector.reader.children({ limit: 10 });
    faults.calls.length = 0;
    collector.reader.children({ limit: 10 });
    collector.reader.sources();
    expect(faults.calls).toEqual(["children", "sources"]);
  });
});
