import { isLegalEdge, type LifecycleEvent, STATES, type State } from "@agent-lifecycle/proto";
import type { Child, Lifecycle } from "@agent-lifecycle/sdk";
import { describe, expect, it } from "vitest";
import { writtenLifecycle } from "./lifecycle-fixture.ts";

const PATHS: Readonly<Record<Exclude<State, "lost">, readonly (keyof Child)[]>> = {
  created: [],
  starting: ["starting"],
  running: ["starting", "running"],
  waiting: ["starting", "waiting"],
  completed: ["starting", "running", "completed"],
  failed: ["failed"],
  cancelled: ["cancelled"],
};

const REACHABLE = STATES.filter((state) => state !== "lost");

function childIn(lifecycle: Lifecycle, state: Exclude<State, "lost">): Child {
  const child = lifecycle.child();
  for (const call of PATHS[state]) invoke(child, call);
  expect(child.state).toBe(state);
  return child;
}

function invoke(child: Child, call: keyof Child): void {
  const method = child[call];
  if (typeof method === "function") Reflect.apply(method, child, []);
}

describe("a child", () => {
  it("is announced as created at once, with what is known of it", async () => {
    const { lifecycle, events } = writtenLifecycle();
    const child = lifecycle.child({ childId: "worker", capabilities: { cancel: "known" }, details: { name: "Ada" } });
    expect(child.state).toBe("created");
    expect(await events()).toEqual([
      {
        schemaVersion: 1,
        eventId: "worker/epoch-1/1",
        source: "unit",
        sourceEpoch: "epoch-1",
        childId: "worker",
        lineage: { rootChildId: "worker", attempt: 0, external: false },
        kind: "created",
        state: "created",
        observedAt: "2026-09-01T09:00:00.000Z",
        sequence: 1,
        details: { name: "Ada" },
        capabilities: {
          history: "unknown",
          heartbeat: "known",
          snapshot: "unknown",
          cancel: "known",
          terminalCause: "unknown",
        },
      },
    ]);
  });

  it("promises heartbeats only when they are on", async () => {
    const { lifecycle, events } = writtenLifecycle({ heartbeatIntervalMs: 0 });
    lifecycle.child();
    expect((await events())[0]?.capabilities.heartbeat).toBe("unknown");
  });

  it("numbers its events from 1, without a hole, and gives each its own id", async () => {
    const { lifecycle, events } = writtenLifecycle();
    const child = childIn(lifecycle, "running");
    child.activity("reads");
    child.heartbeat();
    child.waiting("an answer");
    child.running();
    child.completed({ resultRef: "file:///result" });
    const emitted = await events();
    expect(emitted.map((event) => event.sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(emitted.map((event) => event.kind)).toEqual([
      "created",
      "state_changed",
      "state_changed",
      "activity",
      "heartbeat",
      "state_changed",
      "state_changed",
      "terminal",
    ]);
    expect(new Set(emitted.map((event) => event.eventId)).size).toBe(8);
  });

  it("takes a fresh event id when its own would be too long", async () => {
    const { lifecycle, events } = writtenLifecycle();
    lifecycle.child({ childId: "c".repeat(250) });
    expect((await events())[0]?.eventId).toBe("id-1");
  });

  const calls = [
    ["starting", "starting"],
    ["running", "running"],
    ["waiting", "waiting"],
    ["completed", "completed"],
    ["failed", "failed"],
    ["cancelled", "cancelled"],
  ] as const;
  for (const from of REACHABLE) {
    for (const [call, to] of calls) {
      const legal = isLegalEdge(from, to);
      it(`${legal ? "goes" : "does not go"} from ${from} to ${to}`, async () => {
        const { lifecycle, events, diagnostics } = writtenLifecycle();
        const child = childIn(lifecycle, from);
        const before = (await events()).length;
        invoke(child, call);
        const added = (await events()).slice(before);
        if (legal) {
          expect(child.state).toBe(to);
          expect(added.map((event) => event.state)).toEqual([to]);
          expect(diagnostics).toEqual([]);
        } else {
          expect(child.state).toBe(from);
          expect(added).toEqual([]);
          const ended = from === "completed" || from === "failed" || from === "cancelled";
          expect(diagnostics.map(({ code }) => code)).toEqual([ended ? "terminal_immutable" : "illegal_transition"]);
        }
      });
    }
  }

  it("accepts signs of life until its end and not after", async () => {
    const { lifecycle, events, diagnostics } = writtenLifecycle();
    const child = childIn(lifecycle, "created");
    child.activity("is queued");
    child.cancelled();
    child.activity("too late");
    child.heartbeat();
    expect((await events()).map((event) => event.kind)).toEqual(["created", "activity", "terminal"]);
    expect(diagnostics.map(({ code }) => code)).toEqual(["terminal_immutable", "terminal_immutable"]);
  });
});

describe("lineage", () => {
  it("follows from the parent's handle", async () => {
    const { lifecycle, events } = writtenLifecycle();
    const root = lifecycle.child({ childId: "root" });
    const middle = lifecycle.child({ childId: "middle", parent: root });
    lifecycle.child({ childId: "leaf", parent: middle });
    expect((await events()).map((event) => event.lineage)).toEqual([
      { rootChildId: "root", attempt: 0, external: false },
      { rootChildId: "root", attempt: 0, external: false, parentChildId: "root" },
      { rootChildId: "root", attempt: 0, external: false, parentChildId: "middle" },
    ]);
  });

  it("follows from a parent in another process", () => {
    const { lifecycle } = writtenLifecycle();
    const child = lifecycle.child({ parent: { childId: "elsewhere", rootChildId: "far-root" }, attempt: 2 });
    expect(child.lineage).toEqual({
      rootChildId: "far-root",
      attempt: 2,
      external: false,
      parentChildId: "elsewhere",
    });
  });

  it("never makes a child its own parent", () => {
    const { lifecycle, diagnostics } = writtenLifecycle();
    const child = lifecycle.child({ childId: "self", parent: { childId: "self", rootChildId: "self" } });
    expect(child.lineage).toEqual({ rootChildId: "self", attempt: 0, external: false });
    expect(diagnostics.map(({ path }) => path)).toEqual(["parent"]);
  });

  it("keeps root and parent in a retry and counts the attempt", async () => {
    const { lifecycle, events } = writtenLifecycle();
    const root = lifecycle.child({ childId: "root" });
    const first = lifecycle.child({ childId: "first", parent: root, capabilities: { cancel: "known" } });
    first.failed("timeout");
    const second = first.retry();
    expect(second.childId).not.toBe("first");
    expect(second.lineage).toEqual({ rootChildId: "root", attempt: 1, external: false, parentChildId: "root" });
    second.cancelled();
    expect(second.retry({ childId: "third" }).lineage.attempt).toBe(2);
    const created = (await events()).filter((event) => event.kind === "created");
    expect(created.map((event) => event.childId)).toEqual(["root", "first", second.childId, "third"]);
    expect(created.at(-1)?.capabilities.cancel).toBe("known");
  });

  it("gives an inert child for a retry before the end", async () => {
    const { lifecycle, events, diagnostics } = writtenLifecycle();
    const child = childIn(lifecycle, "running");
    const inert = child.retry();
    inert.starting();
    inert.activity("nothing");
    expect(inert.retry()).not.toBe(inert);
    expect(inert.state).toBe("created");
    expect(await events()).toHaveLength(3);
    expect(new Set(diagnostics.map(({ code }) => code))).toEqual(new Set(["illegal_transition"]));
  });

  it("says when an external child was adopted and in which state it was found", async () => {
    const { lifecycle, events } = writtenLifecycle();
    lifecycle.child({ childId: "found", external: true, observedState: "running" });
    lifecycle.child({ childId: "earlier", external: true, adoptedAt: new Date("2026-08-31T23:00:00Z") });
    const [found, earlier] = await events();
    expect(found).toMatchObject({ kind: "state_changed", state: "running" });
    expect(found?.lineage).toMatchObject({ external: true, adoptedAt: "2026-09-01T09:00:00.000Z" });
    // Our event loop proves nothing of a process that is not ours.
    expect(found?.capabilities.heartbeat).toBe("unknown");
    expect(earlier?.lineage).toMatchObject({ adoptedAt: "2026-08-31T23:00:00.000Z" });
  });

  it("does not let two children of one run share an id", async () => {
    const { lifecycle, events, diagnostics } = writtenLifecycle();
    const first = lifecycle.child({ childId: "worker" });
    const second = lifecycle.child({ childId: "worker" });
    first.cancelled();
    const third = lifecycle.child({ childId: "worker" });
    expect(new Set([first.childId, second.childId, third.childId]).size).toBe(3);
    expect(second.lineage.rootChildId).toBe(second.childId);
    expect(diagnostics.map(({ code }) => code)).toEqual(["duplicate_child_id", "duplicate_child_id"]);
    expect(new Set((await events()).map((event) => event.childId)).size).toBe(3);
  });
});

describe("what a call says", () => {
  async function lastEvent(act: (child: Child) => void): Promise<LifecycleEvent | undefined> {
    const { lifecycle, events } = writtenLifecycle();
    act(childIn(lifecycle, "running"));
    return (await events()).at(-1);
  }

  it("turns a waiting text into a reason of kind other", async () => {
    expect((await lastEvent((child) => child.waiting("the database")))?.details).toEqual({
      waitingOn: { kind: "other", text: "the database" },
    });
  });

  it("keeps a typed waiting reason beside the details", async () => {
    const waiting = await lastEvent((child) => child.waiting({ kind: "child", childId: "c2" }, { tool: "Task" }));
    expect(waiting?.details).toEqual({ waitingOn: { kind: "child", childId: "c2" }, tool: "Task" });
  });

  it("cuts a waiting text rather than lose the reason", async () => {
    const waiting = await lastEvent((child) => child.waiting({ kind: "user", text: "w".repeat(3000) }));
    expect(waiting?.details?.waitingOn).toEqual({ kind: "user", text: "w".repeat(1024) });
  });

  it("takes a word as the cause of a failure", async () => {
    expect((await lastEvent((child) => child.failed("timeout", { exitCode: 1 })))?.details).toEqual({
      cause: "timeout",
      exitCode: 1,
    });
  });

  it("takes an error's name as the cause, its message and code beside it, redacted", async () => {
    const error = Object.assign(new TypeError("no access with Bearer EXAMPLEEXAMPLEEXAMPLE1234"), { code: "EACCES" });
    const failed = await lastEvent((child) => child.failed(error));
    expect(failed?.details).toMatchObject({ cause: "TypeError", errorCode: "EACCES" });
    expect(JSON.stringify(failed)).not.toContain("EXAMPLEEXAMPLE");
  });

  it("redacts and cuts an activity", async () => {
    const activity = await lastEvent((child) => child.activity(`PASSWORD=hunter2example ${"x".repeat(100_000)}`));
    expect(activity?.activity).toHaveLength(1024);
    expect(activity?.activity).not.toContain("hunter2example");
  });

  it("lets no half of a secret through where a huge text is cut", async () => {
    const secret = `ghp_${"EXAMPLE0".repeat(5)}`;
    for (let shift = 0; shift < secret.length + 8; shift += 1) {
      // Redaction shrinks the front so far that the cut end of the text that was read becomes visible.
      const front = `password=${"p".repeat(15_800)} `;
      const text = `${front}${"-".repeat(16_384 - front.length - shift - 1)} ${secret} end`;
      const { lifecycle, events } = writtenLifecycle();
      childIn(lifecycle, "running").activity(text);
      expect((await events()).at(-1)?.activity).not.toContain("ghp_E");
    }
  });
});
