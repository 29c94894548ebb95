import { canonicalEvent, normalizeEvent } from "@agent-lifecycle/proto";
import { type Child, createLifecycle } from "@agent-lifecycle/sdk";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { writtenLifecycle } from "./lifecycle-fixture.ts";

/** An object every use of which throws. */
function trap(): object {
  const refuse = (): never => {
    throw new Error("do not touch");
  };
  return new Proxy(
    {},
    { get: refuse, has: refuse, ownKeys: refuse, getPrototypeOf: refuse, getOwnPropertyDescriptor: refuse },
  );
}

function circular(): Record<string, unknown> {
  const first: Record<string, unknown> = { name: "first" };
  // Every member leads back: a walk without a bound would never end.
  for (let index = 0; index < 50; index += 1) first[`again${index}`] = { first, list: [first, first] };
  return first;
}

const HOSTILE: readonly (readonly [string, unknown])[] = [
  ["a proxy that throws", trap()],
  ["a member that is such a proxy", { fine: 1, trap: trap() }],
  ["a throwing getter", Object.defineProperty({ fine: 1 }, "bad", { enumerable: true, get: () => trap() })],
  ["a circular structure", circular()],
  ["a bigint", { big: 2n ** 80n }],
  ["a Date, also an invalid one", { at: new Date(0), never: new Date(Number.NaN) }],
  ["functions, symbols and undefined", { call: () => 1, symbol: Symbol("s"), nothing: undefined, [Symbol("k")]: 1 }],
  ["NaN and infinities", { a: Number.NaN, b: Number.POSITIVE_INFINITY }],
  ["a huge text", { text: "x".repeat(5_000_000) }],
  ["a huge array", { list: new Array(1_000_000).fill("item") }],
  ["a sparse array of great length", { list: Object.assign([], { length: 2 ** 31 }) }],
  ["a deep structure", JSON.parse(`${'{"a":'.repeat(2000)}1${"}".repeat(2000)}`)],
  ["a Map and a Set", { map: new Map([["key", 1]]), set: new Set([1, 2]) }],
  ["an object without a prototype", Object.assign(Object.create(null), { fine: 1 })],
  ["members named like prototypes", JSON.parse('{"__proto__":{"polluted":1},"constructor":1,"prototype":2}')],
  ["bytes", { bytes: new Uint8Array(1_000_000) }],
  ["unpaired surrogates", { text: "\ud800", "\udc00": 1 }],
  ["no object at all", 42],
  ["null", null],
  ["an array", [1, 2]],
];

describe("hostile details", () => {
  for (const [what, details] of HOSTILE) {
    it(`${what}: the event stands and the host never notices`, async () => {
      const { lifecycle, events } = writtenLifecycle();
      const child = lifecycle.child({ details: details as Record<string, unknown> });
      child.starting(details as Record<string, unknown>);
      child.running();
      child.waiting(details as string, details as Record<string, unknown>);
      child.failed(details, details as Record<string, unknown>);
      const emitted = await events();
      expect(emitted.map((event) => event.state)).toEqual(["created", "starting", "running", "waiting", "failed"]);
      for (const event of emitted) expect(normalizeEvent(event)).toMatchObject({ ok: true, event });
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    });
  }

  it("keeps what is readable around what is not", async () => {
    const { lifecycle, events, diagnostics } = writtenLifecycle();
    lifecycle.child({
      details: { before: 1, trap: trap(), big: 12345678901234567890n, at: new Date(0), after: [1, trap()] },
    });
    expect((await events())[0]?.details).toEqual({
      before: 1,
      big: "12345678901234567890",
      at: "1970-01-01T00:00:00.000Z",
      after: [1, null],
    });
    expect(diagnostics.map(({ path }) => path)).toEqual(["details.trap", "details.after.1"]);
  });

  it("marks as cut what was too much", async () => {
    const { lifecycle, events } = writtenLifecycle();
    lifecycle.child({ details: { list: new Array(100_000).fill("item") } });
    expect((await events())[0]?.details?.truncated).toBe(true);
  });
});

describe("hostile arguments", () => {
  it("of child() are replaced by their defaults, each with a diagnostic", async () => {
    const { lifecycle, events, diagnostics } = writtenLifecycle();
    const child = lifecycle.child({
      childId: 42,
      parent: "nobody",
      rootChildId: "",
      attempt: -1,
      external: "yes",
      automaticHeartbeats: 1,
      observedState: "completed",
      capabilities: { cancel: true, history: "known" },
    } as never);
    expect(child.lineage).toEqual({ rootChildId: child.childId, attempt: 0, external: false });
    expect(diagnostics.map(({ path }) => path).sort()).toEqual([
      "attempt",
      "automaticHeartbeats",
      "capabilities.cancel",
      "childId",
      "external",
      "observedState",
      "parent",
      "rootChildId",
    ]);
    expect((await events())[0]?.capabilities).toMatchObject({ history: "known", cancel: "unknown" });
  });

  it("of child() that cannot even be read leave a child with defaults", async () => {
    const { lifecycle, events } = writtenLifecycle();
    lifecycle.child(trap() as never).cancelled();
    lifecycle.child(7 as never).cancelled();
    expect((await events()).map((event) => event.kind)).toEqual(["created", "terminal", "created", "terminal"]);
  });

  it("make no activity, and say so", async () => {
    const { lifecycle, events, diagnostics } = writtenLifecycle();
    const child = lifecycle.child();
    for (const text of [undefined, 7, null, trap(), Symbol("s")]) child.activity(text as never);
    expect(await events()).toHaveLength(1);
    expect(new Set(diagnostics.map(({ code }) => code))).toEqual(new Set(["invalid_argument"]));
  });

  it("of createLifecycle never throw and switch it off where nothing else is possible", async () => {
    for (const options of [
      undefined,
      null,
      7,
      trap(),
      {},
      { source: "" },
      { source: "s".repeat(257) },
      { source: 7 },
    ]) {
      const lifecycle = createLifecycle(options as never, { environment: {} });
      lifecycle.child().starting();
      expect(lifecycle.counters()).toMatchObject({ emitted: 2, suppressed: 2 });
      expect(lifecycle.counters().diagnostics.invalid_configuration).toBeGreaterThan(0);
      expect(await lifecycle.shutdown()).toEqual({ complete: true });
    }
  });

  it("of a host's provider that throws cost its events only, counted", async () => {
    const broken = {
      getLogger: () => ({
        enabled: () => true,
        emit: () => {
          throw new Error("broken");
        },
      }),
    };
    const lifecycle = createLifecycle({ source: "unit", loggerProvider: broken }, { environment: {} });
    lifecycle.child().starting();
    expect(lifecycle.counters()).toMatchObject({ emitted: 2, dropped: { internal_error: 2 } });
    await lifecycle.shutdown();
  });

  it("do not matter to a listener that throws or calls back in", async () => {
    const told: string[] = [];
    let child: Child | undefined;
    const { lifecycle, events } = writtenLifecycle({
      onDiagnostic: ({ code }) => {
        told.push(code);
        child?.completed();
        throw new Error("listener");
      },
    });
    child = lifecycle.child();
    child.running();
    expect(told).toEqual(["illegal_transition"]);
    expect(lifecycle.counters().diagnostics).toEqual({ illegal_transition: 2, internal_error: 1 });
    expect(await events()).toHaveLength(1);
  });

  it("may call the handle in the middle of a call: the order of states stays legal", async () => {
    const { lifecycle, events, diagnostics } = writtenLifecycle();
    const child = lifecycle.child();
    child.starting();
    const details = {
      get sneaky(): number {
        child.failed("from inside");
        return 1;
      },
    };
    child.running(details);
    expect((await events()).map((event) => event.state)).toEqual(["created", "starting", "failed"]);
    expect(diagnostics.map(({ code }) => code)).toEqual(["terminal_immutable"]);
  });
});

describe("whatever a host calls", () => {
  const argument = fc.oneof(
    fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true }),
    fc.string(),
  );
  const call = fc.record({
    name: fc.constantFrom(
      "starting",
      "running",
      "waiting",
      "activity",
      "heartbeat",
      "completed",
      "failed",
      "cancelled",
      "retry",
    ),
    given: fc.tuple(argument, argument),
  });

  it("every event that leaves is normalized already, and all are accounted for", async () => {
    const { lifecycle, events } = writtenLifecycle();
    await fc.assert(
      fc.asyncProperty(argument, fc.array(call, { maxLength: 12 }), async (options, calls) => {
        const child = lifecycle.child(options as never);
        for (const { name, given } of calls) Reflect.apply(child[name as "starting"], child, given);
        const emitted = await events();
        const counters = lifecycle.counters();
        expect(counters.writtenToJsonl).toBe(counters.emitted);
        expect(counters.diagnostics.internal_error).toBeUndefined();
        for (const event of emitted.slice(-calls.length - 1)) {
          const normalized = normalizeEvent(event);
          expect(normalized.ok ? canonicalEvent(normalized.event) : normalized).toBe(canonicalEvent(event));
        }
      }),
      { numRuns: 150 },
    );
  });
});
