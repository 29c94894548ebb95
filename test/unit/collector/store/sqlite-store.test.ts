import { join } from "node:path";
import { openSqliteStore, type Store } from "@agent-lifecycle/collector/parts";
import {
  type AuditEntry,
  type ChildRecord,
  createProjection,
  fold,
  type IdentityQuestion,
  type InputStatus,
  identityOf,
  type ProjectionInput,
  parseRecord,
  serializeRecord,
  snapshotIdentityQuestion,
} from "@agent-lifecycle/collector/projection";
import { canonicalEvent, type LifecycleEvent } from "@agent-lifecycle/proto";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { CoreRun } from "../../../kit/core-run.ts";
import { temporaryDirectory } from "../../../kit/event-file.ts";
import { makeEvent, makeSnapshot } from "../../../kit/events.ts";
import { arbitraryHistory } from "../../../kit/histories.ts";
import { recount } from "../runtime/embedded-collector.ts";

function openTestStore(): Store {
  const store = openSqliteStore({ path: join(temporaryDirectory(), "collector.db"), synchronous: "normal" });
  onTestFinished(() => store.close());
  return store;
}

/** Everything of `work` in one transaction. */
function commit<Result>(store: Store, work: () => Result): Result {
  store.begin();
  const result = work();
  store.commit();
  return result;
}

function inputOf(event: LifecycleEvent): ProjectionInput {
  return { type: "event", event, receivedAt: 1, backfill: false, identity: "new" };
}

interface Appending {
  readonly childKey?: number;
  readonly status?: InputStatus;
  readonly diagnostic?: string;
}

function append(
  store: Store,
  input: ProjectionInput,
  { childKey, status = "applied", diagnostic }: Appending = {},
): number {
  return store.append({ input, childKey, status, diagnostic });
}

describe("inputs", () => {
  test("get ids that grow by one, also after a rollback, which leaves nothing behind", () => {
    const store = openTestStore();
    const heartbeat = (sequence: number) => inputOf(makeEvent({ sequence }));
    expect(commit(store, () => [append(store, heartbeat(0)), append(store, heartbeat(1))])).toEqual([1, 2]);
    store.begin();
    expect([append(store, heartbeat(2)), append(store, heartbeat(3))]).toEqual([3, 4]);
    store.appendDiagnostic({ at: 1, receiver: "test", diagnostic: { code: "sequence_gap" } });
    store.rollback();
    expect(store.lastInputId()).toBe(2);
    expect(store.diagnostics({ limit: 10 })).toEqual([]);
    store.rollback();
    expect(commit(store, () => append(store, heartbeat(2)))).toBe(3);
    expect([...store.inputs(0)].map(({ inputId }) => inputId)).toEqual([1, 2, 3]);
  });

  test("a transaction cannot be opened twice, and the store is whole afterwards", () => {
    const store = openTestStore();
    store.begin();
    let thrown: unknown;
    try {
      store.begin();
    } catch (error) {
      thrown = error;
    }
    expect(store.explain(thrown)?.message).toContain("cannot start a transaction within a transaction");
    store.rollback();
    expect(commit(store, () => append(store, inputOf(makeEvent({ sequence: 0 }))))).toBe(1);
  });

  test("come back as they went in, whatever they are", () => {
    fc.assert(
      fc.property(arbitraryHistory(), (history) => {
        const core = new CoreRun();
        for (const step of history) core.take(step);
        const store = openSqliteStore({ path: ":memory:" });
        // Duplicates are never appended, and a conflict claims no identity.
        const projection = createProjection();
        const folded = core.inputs.map((input) => ({ input, status: fold(projection, input).status }));
        const appended = folded.filter(({ input }) => !("identity" in input) || input.identity === "new");
        const inputs = appended.map(({ input }) => input);
        commit(store, () => {
          for (const { input, status } of appended) append(store, input, { status });
        });
        const stored = [...store.inputs(0)];
        expect(stored.map(({ input }) => input)).toEqual(inputs);
        expect(stored.map(({ inputId }) => inputId)).toEqual(inputs.map((_, index) => index + 1));
        const half = Math.floor(inputs.length / 2);
        expect([...store.inputs(half)]).toEqual(stored.slice(half));
        store.close();
      }),
      { numRuns: 60 },
    );
  });

  test("of one child are found by its key, a page at a time, with what became of them", () => {
    const store = openTestStore();
    commit(store, () => {
      for (let sequence = 0; sequence < 5; sequence += 1) {
        append(store, inputOf(makeEvent({ childId: "a", sequence })), { childKey: 0 });
        append(store, inputOf(makeEvent({ childId: "b", sequence })), {
          childKey: 1,
          status: "conflict",
          diagnostic: "identity_conflict",
        });
      }
    });
    expect(store.inputsOfChild(0, 0, 3).map(({ inputId }) => inputId)).toEqual([1, 3, 5]);
    expect(store.inputsOfChild(0, 5, 3).map(({ inputId }) => inputId)).toEqual([7, 9]);
    expect(store.inputsOfChild(1, 8, 3)).toMatchObject([
      { inputId: 10, status: "conflict", diagnostic: "identity_conflict", input: { identity: "different" } },
    ]);
    expect(store.inputsOfChild(2, 0, 3)).toEqual([]);
  });
});

describe("an identity", () => {
  const unsequenced = makeEvent({ eventId: "e-1", kind: "activity", activity: "reading" });
  const sequenced = makeEvent({ sequence: 7 });
  const answer = (store: Store, event: LifecycleEvent, childKey?: number, sourceEpoch = event.sourceEpoch) => {
    const identity = identityOf(event);
    const question: IdentityQuestion =
      identity.by === "sequence" && childKey !== undefined ? { ...identity, childKey, sourceEpoch } : identity;
    return store.answerIdentity(question, canonicalEvent(event));
  };

  test("of an unsequenced event is its source and event id; the content tells same from different (P2, P3)", () => {
    const store = openTestStore();
    expect(answer(store, unsequenced)).toBe("new");
    commit(store, () => append(store, inputOf(unsequenced), { childKey: 0 }));
    expect(answer(store, unsequenced)).toBe("same");
    expect(answer(store, { ...unsequenced, activity: "writing" })).toBe("different");
    expect(answer(store, { ...unsequenced, childId: "another" })).toBe("different");
    expect(answer(store, { ...unsequenced, source: "another" })).toBe("new");
    expect(answer(store, { ...unsequenced, eventId: "e-2" })).toBe("new");
  });

  test("of a sequenced event is its child, epoch and sequence", () => {
    const store = openTestStore();
    expect(answer(store, sequenced, 3)).toBe("new");
    commit(store, () => append(store, inputOf(sequenced), { childKey: 3 }));
    expect(answer(store, sequenced, 3)).toBe("same");
    expect(answer(store, { ...sequenced, eventId: "another" }, 3)).toBe("different");
    expect(answer(store, sequenced, 3, "epoch-2")).toBe("new");
    expect(answer(store, sequenced, 4)).toBe("new");
    expect(answer(store, makeEvent({ sequence: 8 }), 3)).toBe("new");
  });

  test("two epochs whose digests collide are still two", () => {
    // FNV-1a gives both names the same 32 bits.
    const [first, second] = ["costarring", "liquid"];
    const store = openTestStore();
    const event = makeEvent({ sequence: 7, sourceEpoch: first });
    commit(store, () => append(store, inputOf(event), { childKey: 0 }));
    expect(answer(store, event, 0)).toBe("same");
    expect(answer(store, makeEvent({ sequence: 7, sourceEpoch: second }), 0)).toBe("new");
    commit(store, () => append(store, inputOf(makeEvent({ sequence: 7, sourceEpoch: second })), { childKey: 0 }));
    expect(answer(store, makeEvent({ sequence: 7, sourceEpoch: second }), 0)).toBe("same");
  });

  test("is not claimed by a conflict: the first holder keeps it", () => {
    const store = openTestStore();
    const rival = { ...unsequenced, activity: "writing" };
    commit(store, () => append(store, inputOf(rival), { childKey: 0, status: "conflict" }));
    expect(answer(store, unsequenced)).toBe("new");
    commit(store, () => append(store, inputOf(unsequenced), { childKey: 0 }));
    commit(store, () =>
      append(store, inputOf({ ...sequenced, eventId: "x" } as LifecycleEvent), { childKey: 0, status: "conflict" }),
    );
    expect(answer(store, unsequenced)).toBe("same");
    expect(answer(store, sequenced, 0)).toBe("new");
  });

  test("of a snapshot is its source and id, and goes with a rollback", () => {
    const store = openTestStore();
    const snapshot = makeSnapshot({ snapshotId: "s-1" });
    const policy = { missingGrace: 2, reconcileDeadlineMs: 1 };
    const input: ProjectionInput = { type: "snapshot", snapshot, receivedAt: 1, identity: "new", policy };
    const question = snapshotIdentityQuestion(snapshot);
    store.begin();
    append(store, input);
    expect(store.answerIdentity(question, "")).not.toBe("new");
    store.rollback();
    expect(store.answerIdentity(question, "")).toBe("new");
    commit(store, () => append(store, input));
    expect(store.answerIdentity(question, "")).not.toBe("new");
    expect(store.answerIdentity(snapshotIdentityQuestion(makeSnapshot({ snapshotId: "s-2" })), "")).toBe("new");
  });
});

/** Children of all kinds, as the core makes them. */
function someRecords(): readonly ChildRecord[] {
  const core = new CoreRun();
  const at = makeEvent({}).observedAt;
  core.takeEvent(
    makeEvent({ childId: "created", sequence: 0, state: "created", details: { name: "Map 100%_reader" } }),
  );
  core.takeEvent(makeEvent({ childId: "gapped", sequence: 4, state: "running", activity: "Reading FILES" }));
  core.takeEvent(makeEvent({ childId: "ended", sequence: 0, state: "created" }));
  core.takeEvent(makeEvent({ childId: "ended", sequence: 1, state: "cancelled", at: 1 }));
  core.takeEvent(makeEvent({ childId: "stateless", sequence: 0 }));
  core.takeEvent(
    makeEvent({
      source: "other",
      childId: "retry",
      state: "created",
      sequence: 0,
      lineage: { rootChildId: "ended", attempt: 1 },
    }),
  );
  core.takeEvent(makeEvent({ childId: "adopted", state: "waiting", lineage: { external: true, adoptedAt: at } }));
  core.take({ type: "tick", at: Date.parse(at) + 60_000 });
  return core.records();
}

function checkpoint(store: Store, records: readonly ChildRecord[], firstUpdate = 1): void {
  commit(store, () =>
    store.checkpoint({
      inputId: 40,
      records: records.map((record, index) => ({ record, updatedInputId: firstUpdate + index })),
      snapshotEpochs: new Map([["runner", { current: "epoch-2", firstObservedAt: 5, superseded: ["epoch-1"] }]]),
      resumption: { inputId: 3, at: 99 },
      nextKey: records.length,
    }),
  );
}

describe("a checkpoint", () => {
  test("is nothing before the first one", () => {
    const { liveChildren, summary, ...rest } = openTestStore().loadCheckpoint();
    expect(rest).toEqual({ inputId: 0, resumption: undefined, snapshotEpochs: new Map(), nextKey: 0 });
    expect([...liveChildren]).toEqual([]);
    expect(summary).toEqual(recount([]));
  });

  test("is loaded as it was written: live children at once, ended ones by name", () => {
    const store = openTestStore();
    const records = someRecords();
    checkpoint(store, records);
    const loaded = store.loadCheckpoint();
    expect([...loaded.liveChildren].map(({ record }) => record)).toEqual(
      records.filter(({ state }) => state !== "cancelled"),
    );
    expect([...store.everyChild()]).toEqual(records.map((record, index) => ({ record, updatedInputId: index + 1 })));
    expect(store.loadChild("runner", "ended")?.record).toEqual(records.find(({ childId }) => childId === "ended"));
    expect(store.loadChild("runner", "retry")).toBeUndefined();
    expect(loaded).toMatchObject({ inputId: 40, nextKey: records.length, resumption: { inputId: 3, at: 99 } });
    expect(loaded.snapshotEpochs.get("runner")).toEqual({
      current: "epoch-2",
      firstObservedAt: 5,
      superseded: ["epoch-1"],
    });
    expect(loaded.summary).toEqual(recount(records));
    expect([...store.misfiledChildren()]).toEqual([]);
  });

  test("replaces what changed, leaves the rest, and goes with a rollback", () => {
    const store = openTestStore();
    const records = someRecords();
    checkpoint(store, records);
    const [first] = records;
    if (first === undefined) throw new Error("no records");
    const changed = parseRecord(serializeRecord({ ...first, activity: "another" }));
    const next = {
      inputId: 50,
      records: [{ record: changed, updatedInputId: 50 }],
      snapshotEpochs: new Map(),
      nextKey: 9,
    };
    store.begin();
    store.checkpoint({ ...next, resumption: undefined });
    store.rollback();
    expect(store.loadCheckpoint().inputId).toBe(40);
    commit(store, () => store.checkpoint({ ...next, resumption: undefined }));
    expect([...store.everyChild()].map(({ record }) => record)).toEqual([changed, ...records.slice(1)]);
    const loaded = store.loadCheckpoint();
    expect(loaded).toMatchObject({ inputId: 50, resumption: { inputId: 3 } });
    expect(loaded.snapshotEpochs.size).toBe(1);
  });
});

describe("a listing of children", () => {
  const found = (query: Partial<Parameters<Store["children"]>[0]>): readonly string[] => {
    const store = openTestStore();
    checkpoint(store, someRecords());
    return store.children({ limit: 100, ...query }).map(({ childId }) => childId);
  };

  test("has those that have a state, newest first, a page at a time", () => {
    expect(found({})).toEqual(["adopted", "retry", "ended", "gapped", "created"]);
    expect(found({ limit: 2 })).toEqual(["adopted", "retry"]);
    expect(found({ limit: 2, beforeKey: 4 })).toEqual(["ended", "gapped"]);
    expect(found({ beforeKey: 0 })).toEqual([]);
  });

  test.each<[string, Partial<Parameters<Store["children"]>[0]>, readonly string[]]>([
    ["state", { states: ["waiting", "cancelled"] }, ["adopted", "ended"]],
    ["no state", { states: [] }, []],
    ["source", { source: "other" }, ["retry"]],
    ["root", { rootChildId: "ended" }, ["retry", "ended"]],
    ["stale", { stale: false }, ["ended"]],
    ["stale", { stale: true, source: "other" }, ["retry"]],
    ["provisional", { provisional: true }, ["gapped"]],
    ["part of an activity, in any case", { text: "reading files" }, ["gapped"]],
    ["part of a name, with characters that mean something to SQL", { text: "100%_" }, ["created"]],
    ["text that only looks like it", { text: "100__" }, []],
    ["several at once", { states: ["waiting", "created"], source: "runner", text: "a" }, ["adopted", "created"]],
  ])("is narrowed by %s", (_, query, expected) => {
    expect(found(query)).toEqual(expected);
  });

  test("of what changed since an input is in the order of the changes", () => {
    const store = openTestStore();
    const records = someRecords();
    checkpoint(store, records.toReversed());
    const changed = store.childrenChangedSince(1, 3);
    expect(changed.map(({ updatedInputId }) => updatedInputId)).toEqual([2, 4, 5]);
    expect(changed.map(({ record }) => record.childId)).toEqual(["retry", "ended", "gapped"]);
    expect(store.childrenChangedSince(6, 3)).toEqual([]);
    expect(store.sources()).toEqual([
      { source: "other", children: 1 },
      { source: "runner", children: 5 },
    ]);
  });
});

describe("audit and diagnostics", () => {
  const entry = (childId: string): AuditEntry => ({
    reason: "failed_reconciliation",
    source: "runner",
    childId,
    from: "running",
    to: "lost",
    at: 9,
  });

  test("audit entries are read oldest first, of all children or of one, above an input", () => {
    const store = openTestStore();
    commit(store, () => {
      for (const [index, childId] of ["a", "b", "a", "b"].entries()) {
        store.appendAudit(index + 1, childId === "a" ? 0 : 1, entry(childId));
      }
    });
    expect(store.audit({ afterInputId: 1, limit: 2 })).toEqual([
      { inputId: 2, entry: entry("b") },
      { inputId: 3, entry: entry("a") },
    ]);
    expect(store.audit({ childKey: 1, afterInputId: 2, limit: 9 })).toEqual([{ inputId: 4, entry: entry("b") }]);
  });

  test("diagnostics are read newest first, by code and by page, and the oldest are dropped", () => {
    const store = openTestStore();
    commit(store, () => {
      for (let at = 1; at <= 6; at += 1) {
        const code = at % 2 === 0 ? "sequence_gap" : "out_of_order";
        store.appendDiagnostic({
          at,
          receiver: "test",
          diagnostic: { code },
          ...(at === 1 ? undefined : { source: "runner", childId: `child-${at}` }),
        });
      }
    });
    const times = (query: Partial<Parameters<Store["diagnostics"]>[0]>) =>
      store.diagnostics({ limit: 10, ...query }).map(({ at }) => at);
    expect(times({})).toEqual([6, 5, 4, 3, 2, 1]);
    expect(times({ code: "sequence_gap", limit: 2 })).toEqual([6, 4]);
    const oldestShown = store.diagnostics({ limit: 4 }).at(-1);
    expect(oldestShown).toMatchObject({ at: 3, source: "runner", childId: "child-3" });
    expect(times({ beforeId: oldestShown?.id ?? 0 })).toEqual([2, 1]);
    expect(store.diagnostics({ limit: 10 }).at(-1)).not.toHaveProperty("childId");
    commit(store, () => store.trimDiagnostics(2));
    expect(times({})).toEqual([6, 5]);
    commit(store, () => store.appendDiagnostic({ at: 7, receiver: "test", diagnostic: { code: "out_of_order" } }));
    expect(store.diagnostics({ limit: 1 })[0]?.id).toBe(7);
  });
});

test("an error that is not the store's is not explained by it", () => {
  const store = openTestStore();
  expect(store.explain(new TypeError("a fault of the program"))).toBeUndefined();
  expect(store.explain("text")).toBeUndefined();
});
