import * as words from "@agent-lifecycle/collector/parts";
import { type ChildView, NO_CAPABILITIES } from "@agent-lifecycle/proto";
import { expect, it } from "vitest";

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

it.each([
  [{ state: "created" }, "running"],
  [{ state: "running" }, "running"],
  [{ state: "waiting", facts: { waitingOn: { kind: "permission" } } }, "attention"],
  [{ state: "waiting", facts: { waitingOn: { kind: "user" } } }, "attention"],
  [{ state: "waiting", facts: { waitingOn: { kind: "child", childId: "b" } } }, "running"],
  [{ state: "waiting" }, "running"],
  [{ state: "running", stale }, "attention"],
  [{ state: "failed" }, "attention"],
  [{ state: "lost" }, "attention"],
  [{ state: "completed" }, "finished"],
  [{ state: "cancelled" }, "finished"],
] as const)("%j stands under %s", (members, attention) => {
  expect(words.attentionOf(child(members), Date.parse(AT) + 1_000, 60_000)).toBe(attention);
});

it("keeps an end in sight from when it was heard of, and only what has ended goes out of it", () => {
  const now = Date.parse(AT) + 60_000;
  expect(words.attentionOf(child({ state: "failed" }), now, 60_000)).toBe("folded");
  expect(words.attentionOf(child({ state: "failed" }), now, Number.POSITIVE_INFINITY)).toBe("attention");
  const heardLater = { state: "failed", lastEvidenceAt: "2026-09-01T09:00:30.000Z" } as const;
  expect(words.attentionOf(child(heardLater), now, 60_000)).toBe("attention");
  expect(words.attentionOf(child({ state: "running" }), now, 60_000)).toBe("running");
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
  [
    { state: "lost", terminalEvidence: "failed_reconciliation", facts: { cause: "omitted_by_authority" } },
    "cause omitted_by_authority, its source's authority does not list it any more",
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
  const byState = { created: 0, starting: 0, running: 5, waiting: 0, completed: 2, failed: 1, cancelled: 0, lost: 1 };
  expect(words.equationWords({ started: 9, live: 5, byState })).toBe(
    "9 started = 5 live + 2 completed + 1 failed + 0 cancelled + 1 lost",
  );
});

it("finds children by any of their words", () => {
  const text = words.searchText(child({ childId: "task-7", activity: "Writing Tests", facts: { name: "Reviewer" } }));
  expect(words.isFound(text, "")).toBe(true);
  expect(words.isFound(text, "tests REVIEW")).toBe(true);
  expect(words.isFound(text, "tests nobody")).toBe(false);
});
