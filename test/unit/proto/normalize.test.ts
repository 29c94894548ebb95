import { EVENT_KINDS, type LifecycleEvent, normalizeEvent, STATES } from "@agent-lifecycle/proto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { arbitraryEvent, arbitraryEventInput, arbitraryMutatedEvent } from "../../kit/arbitraries.ts";

const VALID: Readonly<Record<string, unknown>> = {
  schemaVersion: 1,
  eventId: "e-1",
  source: "test",
  sourceEpoch: "epoch-1",
  childId: "child-1",
  lineage: { rootChildId: "child-1", attempt: 0, external: false },
  kind: "state_changed",
  state: "running",
  observedAt: "2026-09-01T09:00:00Z",
};

function normalized(raw: unknown): LifecycleEvent {
  const result = normalizeEvent(raw);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostic));
  return result.event;
}

function rejectedPath(raw: unknown): string | undefined {
  const result = normalizeEvent(raw);
  return result.ok ? undefined : result.diagnostic.path;
}

/** The event with the member at a dotted path set; `undefined` removes it. */
function withMember(path: string, value: unknown): unknown {
  const copy = structuredClone(VALID) as Record<string, unknown>;
  const names = path.split(".");
  const last = names.pop() as string;
  const holder = names.reduce((object, name) => object[name] as Record<string, unknown>, copy);
  if (value === undefined) delete holder[last];
  else holder[last] = value;
  return copy;
}

describe("N1: an event that breaks the contract is rejected with the failing member's path", () => {
  test.each([
    ["schemaVersion", [undefined, 2, "1", null]],
    ["eventId", [undefined, "", "   ", 7, null, "x".repeat(257)]],
    ["source", [undefined, "", {}, "x".repeat(257)]],
    ["sourceEpoch", [undefined, "\t\n"]],
    ["childId", [undefined, "", []]],
    ["lineage", [undefined, null, [], "child-1"]],
    ["lineage.rootChildId", [undefined, "", 1]],
    ["lineage.attempt", [undefined, -1, 1.5, "0", 2 ** 53]],
    ["lineage.external", [undefined, "false", 0]],
    ["lineage.parentChildId", ["", 5, "child-1", " child-1 "]],
    ["lineage.adoptedAt", ["yesterday", 5, "2026-02-30T00:00:00Z", "2026-09-01T09:00:00+02:00"]],
    ["kind", [undefined, "started", "Created", null, 1]],
    ["state", [undefined, "done", "Running", 3, null]],
    ["observedAt", [undefined, "2026-09-01", "2026-09-31T09:00:00Z", "2026-09-01T09:00:00", 1790000000000, null]],
    ["sequence", [-1, 1.5, "1", 2 ** 53, Number.NaN, true]],
    ["activity", [5, {}, ["x"]]],
    ["details", ["{}", [], 5, true]],
    ["capabilities", [[], "known", 1]],
    ["capabilities.cancel", [{ cancel: "yes" }, { cancel: null }, { cancel: true }]],
  ])("%s", (path, values) => {
    const member = path.startsWith("capabilities.") ? "capabilities" : path;
    for (const value of values) expect(rejectedPath(withMember(member, value)), JSON.stringify(value)).toBe(path);
  });

  test("nothing but an object is an event", () => {
    for (const raw of [null, undefined, 1, "event", [VALID], true]) expect(rejectedPath(raw)).toBe("");
  });

  test("created is always created, terminal always terminal, the other kinds have no state", () => {
    for (const kind of EVENT_KINDS) {
      for (const state of [undefined, ...STATES]) {
        const path = rejectedPath({ ...VALID, kind, state });
        const fits =
          kind === "created"
            ? state === "created"
            : kind === "state_changed"
              ? state !== undefined
              : kind === "terminal"
                ? ["completed", "failed", "cancelled", "lost"].includes(state ?? "")
                : state === undefined;
        expect(path, `${kind} ${state}`).toBe(fits ? undefined : "state");
      }
    }
  });

  test("a rejection holds nothing of the value that caused it", () => {
    const secret = "sk-ant-EXAMPLEEXAMPLEEXAMPLE";
    for (const path of ["kind", "state", "observedAt", "sequence", "details", "lineage", "capabilities"]) {
      const result = normalizeEvent(withMember(path, secret));
      expect(result.ok).toBe(false);
      expect(JSON.stringify(result)).not.toContain("EXAMPLE");
    }
  });

  test("members that the contract does not know are ignored", () => {
    expect(normalized({ ...VALID, progress: 0.5, "": 1, toString: 2 })).toEqual(normalized(VALID));
    expect(normalized(JSON.parse(`{"__proto__": {"kind": "heartbeat"}, ${JSON.stringify(VALID).slice(1)}`))).toEqual(
      normalized(VALID),
    );
  });

  test("null is as good as absent where a member may be absent", () => {
    const nulls = { sequence: null, activity: null, details: null, capabilities: null };
    const lineage = { ...(VALID.lineage as object), parentChildId: null, adoptedAt: null };
    expect(normalized({ ...VALID, ...nulls, lineage })).toEqual(normalized(VALID));
  });
});

describe("what is accepted is normalized", () => {
  test("identifiers are trimmed, and measured after that in characters", () => {
    expect(
      normalized({
        ...VALID,
        childId: "  child-1\n",
        lineage: { rootChildId: "\tchild-1", attempt: 0, external: false },
      }),
    ).toEqual(normalized(VALID));
    expect(rejectedPath({ ...VALID, eventId: `  ${"x".repeat(256)}  ` })).toBeUndefined();
    expect(rejectedPath({ ...VALID, eventId: "🐝".repeat(256) })).toBeUndefined();
    expect(rejectedPath({ ...VALID, eventId: "🐝".repeat(257) })).toBe("eventId");
  });

  test("times end in Z with milliseconds", () => {
    const lineage = { rootChildId: "r", attempt: 0, external: true, adoptedAt: "2026-09-01t08:00:00.5+00:00" };
    const event = normalized({ ...VALID, observedAt: "2026-09-01T09:00:00.1234567+00:00", lineage });
    expect(event.observedAt).toBe("2026-09-01T09:00:00.123Z");
    expect(event.lineage.adoptedAt).toBe("2026-09-01T08:00:00.500Z");
  });

  test("activity is redacted before it is cut at 1,024 characters, never through a character", () => {
    expect(normalized({ ...VALID, activity: "x".repeat(2000) }).activity).toBe("x".repeat(1024));
    expect(normalized({ ...VALID, activity: `${"x".repeat(1023)}🐝` }).activity).toBe("x".repeat(1023));
    const activity = `${"x ".repeat(500)}password=${"hunter2".repeat(20)}`;
    expect(normalized({ ...VALID, activity }).activity).not.toContain("hunter");
  });

  test("capabilities that are not stated are unknown", () => {
    expect(normalized({ ...VALID, capabilities: { cancel: "known" } }).capabilities).toEqual({
      history: "unknown",
      heartbeat: "unknown",
      snapshot: "unknown",
      cancel: "known",
      terminalCause: "unknown",
    });
  });

  test("unpaired surrogates cannot be written in UTF-8 and are replaced", () => {
    const event = normalized({ ...VALID, eventId: "a\ud800b", activity: "\udc00", details: { "k\ud800": "\ud800" } });
    expect([event.eventId, event.activity, event.details]).toEqual(["a\ufffdb", "\ufffd", { "k\ufffd": "\ufffd" }]);
  });

  test("normalizing again changes nothing", () => {
    fc.assert(
      fc.property(arbitraryEvent(), (event) => void expect(normalizeEvent(event)).toMatchObject({ ok: true, event })),
    );
  });

  test("the input is never written to", () => {
    fc.assert(
      fc.property(arbitraryEventInput(), (input) => {
        const before = structuredClone(input);
        normalizeEvent(deepFrozen(input));
        expect(input).toEqual(before);
      }),
    );
  });

  test("nothing makes it throw", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true }), (value) => void normalizeEvent(value)),
    );
    fc.assert(fc.property(arbitraryMutatedEvent(), (value) => void normalizeEvent(value)));
  });
});

describe("N2", () => {
  test("an external child without an adoption time is accepted, and that is said", () => {
    const result = normalizeEvent({ ...VALID, lineage: { rootChildId: "r", attempt: 0, external: true } });
    expect(result).toMatchObject({
      ok: true,
      diagnostics: [{ code: "adoption_time_missing", path: "lineage.adoptedAt" }],
    });
  });

  test("an own child needs no adoption time", () => {
    expect(normalizeEvent(VALID)).toMatchObject({ ok: true, diagnostics: [] });
  });
});

describe("identifiers with secrets", () => {
  test("a child keeps its identity in every place, without the secret", () => {
    const childId = "run-ghp_EXAMPLEEXAMPLEEXAMPLEEXAMPLE1234";
    const event = normalized({ ...VALID, childId, lineage: { rootChildId: childId, attempt: 0, external: false } });
    expect(event.childId).not.toContain("EXAMPLE");
    expect(event.lineage.rootChildId).toBe(event.childId);
    const sibling = normalized({
      ...VALID,
      childId: "c",
      lineage: { rootChildId: childId, attempt: 0, external: false, parentChildId: childId },
    });
    expect(sibling.lineage).toMatchObject({ rootChildId: event.childId, parentChildId: event.childId });
  });
});

function deepFrozen<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null) {
    for (const member of Object.values(value)) deepFrozen(member);
    Object.freeze(value);
  }
  return value;
}
