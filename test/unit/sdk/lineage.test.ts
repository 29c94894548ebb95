import { setTimeout as later } from "node:timers/promises";
import { createLifecycle, type Lifecycle } from "@agent-lifecycle/sdk";
import { context, propagation, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { describe, expect, it, onTestFinished } from "vitest";
import { HeldExporter } from "./held-exporter.ts";
import { writtenLifecycle } from "./lifecycle-fixture.ts";

function lifecycleWith(environment: Record<string, string>, workerData?: unknown): Lifecycle {
  const lifecycle = createLifecycle(
    { source: "unit", exitHooks: false, heartbeatIntervalMs: 0, exporter: new HeldExporter() },
    { environment, workerData },
  );
  onTestFinished(async () => {
    await lifecycle.shutdown({ timeoutMs: 0 });
  });
  return lifecycle;
}

describe("inside of a child's run", () => {
  it("children are delegated by it, through everything asynchronous, and by nobody outside", async () => {
    const { lifecycle } = writtenLifecycle();
    const root = lifecycle.child({ childId: "root" });
    const lineages = await root.run(async () => {
      await later(1);
      const middle = lifecycle.child({ childId: "middle" });
      const leaf = await middle.run(() => Promise.resolve(lifecycle.child({ childId: "leaf" })));
      return [middle.lineage, leaf.lineage];
    });
    expect(lineages).toEqual([
      { rootChildId: "root", parentChildId: "root", attempt: 0, external: false },
      { rootChildId: "root", parentChildId: "middle", attempt: 0, external: false },
    ]);
    expect(lifecycle.child({ childId: "outside" }).lineage).toEqual({
      rootChildId: "outside",
      attempt: 0,
      external: false,
    });
  });

  it("a child may be a root all the same, or somebody else's", () => {
    const { lifecycle } = writtenLifecycle();
    const root = lifecycle.child({ childId: "root" });
    root.run(() => {
      expect(lifecycle.child({ childId: "a", parent: null }).lineage.parentChildId).toBeUndefined();
      expect(lifecycle.child({ childId: "b", rootChildId: "other" }).lineage).toMatchObject({ rootChildId: "other" });
      const parent = { childId: "p", rootChildId: "r" };
      expect(lifecycle.child({ childId: "c", parent }).lineage.parentChildId).toBe("p");
      expect(lifecycle.adopt({ childId: "d" }).lineage.parentChildId).toBeUndefined();
    });
  });

  it("what the function returns or throws is the function's", () => {
    const { lifecycle } = writtenLifecycle();
    const child = lifecycle.child();
    expect(child.run(() => 7)).toBe(7);
    const fault = new Error("the host's own");
    expect(() =>
      child.run(() => {
        throw fault;
      }),
    ).toThrow(fault);
  });

  it("lineage crosses lifecycles", () => {
    const one = writtenLifecycle();
    const other = writtenLifecycle({ source: "other" });
    const child = one.lifecycle.child({ childId: "root" });
    expect(child.run(() => other.lifecycle.child({ childId: "x" }).lineage.parentChildId)).toBe("root");
  });
});

describe("what travels", () => {
  it("makes children elsewhere children of this one, by environment and by workerData", () => {
    const { lifecycle } = writtenLifecycle();
    const child = lifecycle.child({ childId: "p", parent: { childId: "r" } });
    const environment = child.environment({ PATH: "/bin" }) as Record<string, string>;
    expect(environment).toEqual({
      PATH: "/bin",
      AGENT_LIFECYCLE_PARENT_CHILD_ID: "p",
      AGENT_LIFECYCLE_ROOT_CHILD_ID: "r",
      AGENT_LIFECYCLE_VISIBILITY_CONTRACT: expect.any(String),
    });
    const expected = { rootChildId: "r", parentChildId: "p", attempt: 0, external: false };
    expect(lifecycleWith(environment).child().lineage).toEqual(expected);
    const workerData = child.workerData({ task: 1 });
    expect(workerData.task).toBe(1);
    expect(lifecycleWith({}, structuredClone(workerData)).child().lineage).toEqual(expected);
  });

  it("takes trace and baggage along, in the variables of the OpenTelemetry environment carrier", () => {
    const spanContext = {
      traceId: "0af7651916cd43dd8448eb211c80319c",
      spanId: "b7ad6b7169203331",
      traceFlags: 1,
    };
    const active = propagation.setBaggage(
      trace.setSpanContext(ROOT_CONTEXT, spanContext),
      propagation.createBaggage({ tenant: { value: "a b" } }),
    );
    context.setGlobalContextManager({
      active: () => active,
      with: (_context, run, self, ...parameters) => run.call(self as never, ...parameters),
      bind: (_context, target) => target,
      enable() {
        return this;
      },
      disable() {
        return this;
      },
    });
    let carried: Record<string, string | undefined>;
    try {
      carried = writtenLifecycle().lifecycle.child({ childId: "p" }).environment({});
    } finally {
      context.disable();
    }
    expect(carried).toMatchObject({
      TRACEPARENT: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      BAGGAGE: "tenant=a%20b",
    });
  });

  it("gives events the trace that their process was started in", async () => {
    const exporter = new HeldExporter();
    const lifecycle = createLifecycle(
      { source: "unit", exitHooks: false, heartbeatIntervalMs: 0, exporter },
      { environment: { TRACEPARENT: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" } },
    );
    lifecycle.child();
    const flushed = lifecycle.flush();
    exporter.answer();
    await flushed;
    await lifecycle.shutdown({ timeoutMs: 0 });
    expect(exporter.taken.flat()[0]?.spanContext).toMatchObject({
      traceId: "0af7651916cd43dd8448eb211c80319c",
      spanId: "b7ad6b7169203331",
    });
  });

  for (const [what, environment] of [
    ["an empty id", { AGENT_LIFECYCLE_PARENT_CHILD_ID: " " }],
    ["an id that is too long", { AGENT_LIFECYCLE_PARENT_CHILD_ID: "x".repeat(300) }],
    ["a trace that is none", { TRACEPARENT: "00-zz-zz-01" }],
  ] as const) {
    it(`with ${what} counts for nothing`, () => {
      expect(lifecycleWith(environment).child({ childId: "c" }).lineage).toEqual({
        rootChildId: "c",
        attempt: 0,
        external: false,
      });
    });
  }

  it("does not make a child its own parent", () => {
    const lifecycle = lifecycleWith({ AGENT_LIFECYCLE_PARENT_CHILD_ID: "c" });
    expect(lifecycle.child({ childId: "c" }).lineage.parentChildId).toBeUndefined();
    expect(lifecycle.counters().diagnostics).toEqual({});
  });
});

describe("an adopted child", () => {
  it("is external, with the time, in the state it was found in, and has the capabilities that are named", async () => {
    const { lifecycle, events } = writtenLifecycle();
    lifecycle.adopt({ childId: "a", observedState: "running", capabilities: { snapshot: "known" } });
    const [event] = await events();
    expect(event).toMatchObject({
      kind: "state_changed",
      state: "running",
      lineage: { external: true, adoptedAt: "2026-09-01T09:00:00.000Z" },
      capabilities: { snapshot: "known", heartbeat: "unknown", cancel: "unknown", history: "unknown" },
    });
  });

  it("gets no heartbeats that nobody asked for", async () => {
    const { lifecycle, clock, events } = writtenLifecycle();
    lifecycle.adopt({ childId: "a" });
    await clock.advance(120_000);
    expect((await events()).map(({ kind }) => kind)).toEqual(["created"]);
  });
});

it("a diagnostic is a note that changes no state", async () => {
  const { lifecycle, events } = writtenLifecycle();
  const child = lifecycle.child();
  child.diagnostic("looks odd: token=hunter2example", { tool: "bash" });
  expect(child.state).toBe("created");
  const [, note] = await events();
  expect(note).toMatchObject({ kind: "diagnostic", details: { tool: "bash" } });
  expect(JSON.stringify(note)).not.toContain("hunter2example");
});
