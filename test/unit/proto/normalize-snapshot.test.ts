import { type LifecycleSnapshot, normalizeSnapshot, REDACTED, validSnapshot } from "@agent-lifecycle/proto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const VALID: Readonly<Record<string, unknown>> = {
  source: "gateway",
  sourceEpoch: "epoch-1",
  snapshotId: "s-1",
  observedAt: "2026-09-01T09:00:00Z",
  complete: true,
  coverage: ["a", "b"],
  children: [{ childId: "a", state: "running" }],
};

function normalized(raw: unknown): LifecycleSnapshot {
  const result = normalizeSnapshot(raw);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostic));
  return result.snapshot;
}

function rejectedPath(members: Record<string, unknown>): string | undefined {
  const result = normalizeSnapshot({ ...VALID, ...members });
  return result.ok ? undefined : result.diagnostic.path;
}

describe("A1: a snapshot is validated whole", () => {
  test.each<[string, Record<string, unknown>]>([
    ["source", { source: " " }],
    ["sourceEpoch", { sourceEpoch: undefined }],
    ["snapshotId", { snapshotId: 7 }],
    ["observedAt", { observedAt: "2026-02-30T09:00:00Z" }],
    ["observedAt", { observedAt: "2026-09-01T09:00:00+02:00" }],
    ["complete", { complete: "true" }],
    ["coverage", { coverage: [] }],
    ["coverage", { coverage: "some" }],
    ["children", { children: {} }],
    ["children.0.state", { children: [{ childId: "a", state: "alive" }] }],
    ["children.0.childId", { children: [{ state: "running" }] }],
    [
      "children.1.childId",
      {
        children: [
          { childId: "a", state: "running" },
          { childId: " a ", state: "waiting" },
        ],
      },
    ],
    ["children.0.childId", { children: [{ childId: "c", state: "running" }] }],
    ["children.0.sequence", { children: [{ childId: "a", state: "running", sequence: -1 }] }],
    [
      "children.0.lineage.attempt",
      { children: [{ childId: "a", state: "running", lineage: { rootChildId: "a", external: false } }] },
    ],
    [
      "children.0.lineage.parentChildId",
      {
        children: [
          {
            childId: "a",
            state: "running",
            lineage: { rootChildId: "a", attempt: 0, external: false, parentChildId: "a" },
          },
        ],
      },
    ],
  ])("%s is named: %j", (path, members) => {
    const found = rejectedPath(members);
    expect(path === "coverage" ? found?.split(".")[0] : found).toBe(path);
  });

  test("nothing but an object is a snapshot", () => {
    for (const raw of [null, [], "x", 1])
      expect(normalizeSnapshot(raw)).toMatchObject({ ok: false, diagnostic: { code: "invalid_snapshot" } });
  });

  test("nothing makes it throw", () => {
    fc.assert(fc.property(fc.anything(), (value) => void normalizeSnapshot(value)));
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(VALID)),
        fc.anything(),
        (name, value) => void normalizeSnapshot({ ...VALID, [name]: value }),
      ),
    );
  });
});

describe("what is accepted is normalized", () => {
  test("members that were not stated stay absent, the others are trimmed and bounded", () => {
    const lineage = { rootChildId: " r ", attempt: 0, external: false, parentChildId: null };
    const children = [
      {
        childId: " a ",
        state: "running",
        sequence: 3,
        activity: "x".repeat(2000),
        lineage,
        capabilities: { cancel: "known" },
      },
      { childId: "b", state: "waiting", activity: null },
    ];
    const snapshot = normalized({ ...VALID, coverage: "all", children });
    expect(snapshot.observedAt).toBe("2026-09-01T09:00:00.000Z");
    expect(snapshot.children[0]).toMatchObject({
      childId: "a",
      sequence: 3,
      activity: "x".repeat(1024),
      lineage: { rootChildId: "r", attempt: 0, external: false },
    });
    expect(snapshot.children[0]?.capabilities?.cancel).toBe("known");
    expect(snapshot.children[1]).toEqual({ childId: "b", state: "waiting" });
    expect(validSnapshot(snapshot)).toBe(true);
    expect(normalized(snapshot)).toEqual(snapshot);
  });

  test("an identity with a secret is the same in the coverage and in the list", () => {
    const childId = "run-ghp_EXAMPLEEXAMPLEEXAMPLEEXAMPLE";
    const snapshot = normalized({
      ...VALID,
      coverage: [childId],
      children: [{ childId, state: "running", details: { apiKey: "x" } }],
    });
    expect(JSON.stringify(snapshot)).not.toContain("EXAMPLE");
    expect(snapshot.coverage).toEqual([snapshot.children[0]?.childId]);
    expect(snapshot.children[0]?.details).toEqual({ apiKey: REDACTED });
  });

  test("what an entry's details lost is said", () => {
    const children = [{ childId: "a", state: "running", details: { exitCode: "x" } }];
    expect(normalizeSnapshot({ ...VALID, children })).toMatchObject({
      ok: true,
      diagnostics: [{ code: "reserved_member_malformed" }],
    });
  });

  test("a view that is not complete is a valid snapshot (A7)", () => {
    expect(normalized({ ...VALID, complete: false }).complete).toBe(false);
  });
});
