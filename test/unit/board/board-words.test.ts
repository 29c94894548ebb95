import { readFile } from "node:fs/promises";
import { type ChildView, NO_CAPABILITIES, STATES, VISIBILITY_UNAVAILABLE } from "@agent-lifecycle/proto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const BOARD = new URL("../../../collector/board/", import.meta.url);

type Words = (child: ChildView, clockWords: (timestamp: string) => string) => string;

interface BoardWords {
  readonly STATE_SHAPES: Readonly<Record<string, string>>;
  readonly adoptedWords: Words;
  readonly cancelWords: Words;
  readonly lateWords: Words;
  readonly staleWords: Words;
  capabilityWords(child: ChildView): string;
  doingWords(child: ChildView): string;
  durationWords(milliseconds: number): string;
  endWords(child: ChildView): string;
  equationWords(summary: object): string;
  groupOf(child: ChildView): string;
  inLineageOrder(children: readonly ChildView[]): readonly { readonly child: ChildView; readonly depth: number }[];
  matches(child: ChildView, filter: string): boolean;
  provisionalWords(child: ChildView): string;
}

const words = (await import(new URL("board-words.js", BOARD).href)) as BoardWords;
const { createEventParser } = (await import(new URL("board-stream.js", BOARD).href)) as {
  createEventParser(onEvent: (event: string, data: unknown, id: string | undefined) => void): (text: string) => void;
};

const clock = (timestamp: string): string => timestamp.slice(11, 19);
const AT = "2026-09-01T09:00:00.000Z";

function child(members: Partial<ChildView> = {}): ChildView {
  return {
    source: "runner",
    childId: "a",
    lineage: { rootChildId: "a", attempt: 0, external: false },
    capabilities: NO_CAPABILITIES,
    state: "running",
    stateAt: AT,
    stateInferred: false,
    stateEvidence: "event",
    terminalEvidence: null,
    activity: null,
    activityAt: null,
    heartbeatAt: null,
    facts: {},
    provisional: false,
    missing: [],
    stale: null,
    reconciliation: null,
    misses: 0,
    history: "complete",
    firstObservedAt: AT,
    lastObservedAt: AT,
    lastEvidenceAt: AT,
    lastProgressAt: AT,
    sourceEpoch: "epoch-1",
    highestSequence: 1,
    gaps: [],
    conflicts: 0,
    corrections: 0,
    outOfOrder: 0,
    lateEvidence: null,
    ...members,
  };
}

const stale = { since: AT, reason: "deadline" } as const;

it("says the sentence of D2 to the letter", async () => {
  const source = await readFile(new URL("board.js", BOARD), "utf8");
  expect(source).toContain(`const UNAVAILABLE = ${JSON.stringify(VISIBILITY_UNAVAILABLE)};`);
});

it("gives every state a shape of its own, so that none is told by colour alone", () => {
  expect(new Set(STATES.map((state) => words.STATE_SHAPES[state])).size).toBe(STATES.length);
});

it.each([
  ["created", null, "running"],
  ["starting", null, "running"],
  ["running", null, "running"],
  ["waiting", null, "attention"],
  ["running", stale, "attention"],
  ["failed", null, "attention"],
  ["lost", null, "attention"],
  ["completed", null, "finished"],
  ["cancelled", null, "finished"],
] as const)("lists %s (stale: %j) under %s", (state, mark, group) => {
  expect(words.groupOf(child({ state, stale: mark }))).toBe(group);
});

it.each([
  [-5_000, "0 s"],
  [59_999, "59 s"],
  [60_000, "1 min 0 s"],
  [3_600_000, "1 h 0 min"],
  [47 * 3_600_000, "47 h 0 min"],
  [50 * 3_600_000, "2 d 2 h"],
])("writes %d ms as %s", (milliseconds, written) => {
  expect(words.durationWords(milliseconds)).toBe(written);
});

it.each([
  [{}, ""],
  [{ activity: "Compiling", facts: { tool: "Bash" } }, "Compiling · tool Bash"],
  [{ facts: { waitingOn: { kind: "permission", text: "to write" } } }, "waits on a permission: to write"],
  [{ facts: { waitingOn: { kind: "child", childId: "b" } } }, "waits on child b"],
  [{ facts: { waitingOn: { kind: "provider_retry" } } }, "waits on the provider, to try again"],
] as const)("says what a child does only as far as its source said it: %j", (members, said) => {
  expect(words.doingWords(child(members))).toBe(said);
});

it("says why a child is stale and what is awaited", () => {
  const deadline = "2026-09-01T09:00:30.000Z";
  const asked = child({ stale, reconciliation: { requestedAt: AT, deadline } });
  expect(words.staleWords(asked, clock)).toBe(
    "stale since 09:00:00: nothing heard within its deadline; its source has until 09:00:30 to answer",
  );
  expect(words.staleWords(child({ stale }), clock)).toContain("nobody can be asked about it");
  expect(words.staleWords(child(), clock)).toBe("");
});

it("names what a provisional record lacks", () => {
  const members = {
    provisional: true,
    missing: ["sequence_gap", "epoch_gap", "beginning"] as const,
    gaps: [
      [3, 5],
      [7, 7],
    ] as const,
  };
  expect(words.provisionalWords(child(members))).toBe(
    "provisional: missing reports 3–5, 7; what happened between two runs of its source is not known; its beginning was not seen",
  );
});

it("shows an adopted child as adopted, with the time, and claims nothing about its past (D4)", () => {
  const lineage = { rootChildId: "a", attempt: 0, external: true };
  expect(words.adoptedWords(child({ lineage: { ...lineage, adoptedAt: AT } }), clock)).toBe(
    "adopted at 09:00:00; nothing is claimed about its life before",
  );
  expect(words.adoptedWords(child({ lineage }), clock)).toContain("at an unknown time");
});

it("shows unknown capabilities as unknown (D4)", () => {
  const capabilities = { ...NO_CAPABILITIES, heartbeat: "known" } as const;
  expect(words.capabilityWords(child({ capabilities }))).toBe(
    "capabilities known: heartbeat; unknown: history, snapshot, cancel, terminal cause",
  );
});

it.each([
  [{ state: "running" }, ""],
  [
    { state: "failed", facts: { cause: "timeout", exitCode: 137, signal: "SIGKILL" } },
    "cause timeout, exit code 137, signal SIGKILL",
  ],
  [{ state: "completed", facts: { exitCode: 0 } }, "exit code 0"],
  [
    { state: "lost", terminalEvidence: "failed_reconciliation" },
    "cause unknown, nobody answered for it by its deadline",
  ],
] as const)("says how a child ended only as far as it is known: %j", (members, said) => {
  expect(words.endWords(child(members))).toBe(said);
});

it("shows claims after the end beside it (P19)", () => {
  const lateEvidence = { count: 2, lastObservedAt: AT, lastState: "running" } as const;
  expect(words.lateWords(child({ state: "completed", lateEvidence }), clock)).toBe(
    "contradicted: 2 claims after the end, the last at 09:00:00, saying running",
  );
});

it("takes a cancel request for no state (D5)", () => {
  const facts = { cancelRequestedAt: AT };
  expect(words.cancelWords(child({ facts }), clock)).toBe("cancel requested at 09:00:00, not confirmed");
  expect(words.cancelWords(child({ facts, state: "completed" }), clock)).toContain("not honoured");
  expect(words.cancelWords(child({ facts, state: "cancelled" }), clock)).toBe("");
});

it("writes the counts as a sum", () => {
  const byState = { completed: 2, failed: 1, cancelled: 0, lost: 1 };
  expect(words.equationWords({ started: 9, live: 5, byState })).toBe(
    "9 started = 5 live + 2 completed + 1 failed + 0 cancelled + 1 lost",
  );
});

it("finds children by any of their words", () => {
  const found = child({ childId: "task-7", activity: "Writing Tests", facts: { name: "Reviewer" } });
  expect(words.matches(found, "")).toBe(true);
  expect(words.matches(found, "tests REVIEW")).toBe(true);
  expect(words.matches(found, "tests nobody")).toBe(false);
});

describe("the order of rows", () => {
  const placed = (children: readonly ChildView[]): readonly string[] =>
    words.inLineageOrder(children).map(({ child: { childId }, depth }) => `${"> ".repeat(depth)}${childId}`);

  const member = (childId: string, parentChildId?: string, second = 0): ChildView =>
    child({
      childId,
      firstObservedAt: `2026-09-01T09:00:0${second}.000Z`,
      lineage: {
        rootChildId: "root",
        attempt: 0,
        external: false,
        ...(parentChildId === undefined ? undefined : { parentChildId }),
      },
    });

  it("is newest first, each child below its parent", () => {
    expect(
      placed([member("old"), member("leaf", "new", 3), member("new", undefined, 1), member("orphan", "gone", 2)]),
    ).toEqual(["orphan", "new", "> leaf", "old"]);
  });

  it("holds every child exactly once, whatever parents they claim", () => {
    const names = fc.constantFrom("a", "b", "c", "d", "e");
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(names, fc.option(names)), { selector: ([name]) => name }), (claims) => {
        const children = claims.map(([name, parent]) => member(name, parent ?? undefined));
        const rows = words.inLineageOrder(children).map(({ child: { childId } }) => childId);
        expect(rows.toSorted()).toEqual(claims.map(([name]) => name).toSorted());
      }),
    );
  });
});

it("reads server-sent events from text that is cut anywhere", () => {
  const text = 'retry: 2000\n\nevent: child\nid: 7\ndata: {"a":"x: y\\n"}\n\n: alive\n\nevent: summary\ndata: {}\n\n';
  fc.assert(
    fc.property(fc.array(fc.nat(text.length)), (cuts) => {
      const seen: unknown[] = [];
      const parse = createEventParser((event, data, id) => seen.push([event, data, id]));
      const positions = [0, ...cuts.toSorted((one, other) => one - other), text.length];
      for (const [index, start] of positions.entries()) parse(text.slice(start, positions[index + 1] ?? text.length));
      expect(seen).toEqual([
        ["child", { a: "x: y\n" }, "7"],
        ["summary", {}, undefined],
      ]);
    }),
  );
});
