import {
  type Capabilities,
  type Details,
  formatTimestamp,
  isJsonObject,
  type LifecycleSnapshot,
  type SnapshotEntry,
  type State,
} from "@agent-lifecycle/proto";
import { type ChildPhase, type ChildRoster, type KnownChild, MAX_OMISSIONS } from "./child-roster.ts";
import { redactAndCut } from "./display-text.ts";
import { type DetailPolicy, subagentDetails } from "./subagent-details.ts";
import { namesNobodyKnown, readSubagentFacts, type SubagentFacts } from "./subagent-frame.ts";

/** A successful answer to `delegation.status`: every child that runs in the gateway's process. */
export interface DelegationStatus {
  readonly rows: readonly SubagentFacts[];
  /** When it was asked for: each row was true at that time or later. Milliseconds since the epoch. */
  readonly askedAt: number;
}

/**
 * Reads an answer, or says why it is none. One row that cannot be read makes the whole answer useless as proof of
 * absence: the child that it is about would count as gone.
 */
export function readDelegationStatus(result: unknown, askedAt: number): DelegationStatus | string {
  const active = isJsonObject(result) ? result["active"] : undefined;
  if (!Array.isArray(active)) return "it lists no active children";
  const rows: SubagentFacts[] = [];
  const named = new Set<string>();
  for (const row of active as readonly unknown[]) {
    if (namesNobodyKnown(row)) continue;
    const facts = readSubagentFacts(row);
    if (facts === undefined) return "a row names no subagent_id";
    if (named.has(facts.childId)) return "a row names a child that another row names too";
    named.add(facts.childId);
    rows.push(facts);
  }
  // Parents first, so that each child's place in the tree can be told.
  return { rows: rows.toSorted((first, second) => (first.depth ?? 0) - (second.depth ?? 0)), askedAt };
}

export interface SnapshotStatement {
  readonly source: string;
  readonly sourceEpoch: string;
  readonly snapshotId: string;
  readonly capabilities: Capabilities;
  readonly policy: DetailPolicy;
  /** The collector's own children of this source that have not ended, of any epoch. */
  readonly known: readonly KnownChild[];
}

/**
 * The rows as an authority's statement (contract section 5). It covers all children but those that wait for their turn:
 * the gateway lists a child from its start, so that a row's absence says nothing about one that was only asked for.
 */
export function delegationSnapshot(
  status: DelegationStatus,
  roster: ChildRoster,
  statement: SnapshotStatement,
): LifecycleSnapshot {
  const { source, sourceEpoch, snapshotId, capabilities, policy } = statement;
  const children: SnapshotEntry[] = [];
  for (const facts of status.rows) {
    const child = roster.note(facts);
    const state = stateOfRow(facts.status) ?? stateKept(facts.childId, child.phase, statement);
    if (state === undefined) continue;
    children.push({
      childId: facts.childId,
      state,
      ...(child.isRootAssumed ? undefined : { lineage: roster.lineageOf(child) }),
      capabilities,
      ...(facts.tool === undefined ? undefined : { activity: redactAndCut(facts.tool) }),
      details: subagentDetails(facts, policy, child.sessionId) as Details,
    });
  }
  const observedAt = formatTimestamp(status.askedAt);
  const coverage = coverageOf(status, roster, statement);
  // Nobody it could speak about: it proves nothing, and must not look as if it did.
  const isEmpty = coverage !== "all" && coverage.length === 0;
  return {
    source,
    sourceEpoch,
    snapshotId,
    observedAt,
    complete: !isEmpty,
    coverage: isEmpty ? "all" : coverage,
    children,
  };
}

function stateOfRow(status: string | undefined): State | undefined {
  switch (status) {
    // A row without a word is there all the same, and rows are there only while their child runs.
    case undefined:
    case "running":
      return "running";
    case "queued":
      return "created";
    default:
      return undefined;
  }
}

/** A word that nobody has defined changes no state; that the row is there shows that the child is not gone. */
function stateKept(childId: string, phase: ChildPhase, { known }: SnapshotStatement): State | undefined {
  const state = known.find((child) => child.childId === childId)?.state;
  return state ?? (phase === "running" ? "running" : undefined);
}

/** What the rows tell that was not passed on yet. */
export interface RowNews {
  /** A child that nobody announced, or one that is no longer there: a snapshot has to say so. */
  readonly isAboutPresence: boolean;
  /** Children that used tools which no frame told of. */
  readonly progressed: readonly SubagentFacts[];
  /** Words that nobody has defined. The children keep the state that they have, and a snapshot says that they are there. */
  readonly unknownStatuses: readonly string[];
}

/**
 * Finds what is new in the rows; the roster learns it. Rows that only repeat what is known are left to whoever asks for a
 * snapshot, so that a gateway which is looked at every second does not fill a log.
 * @param framesAreRead frames tell of the tools of first-level children; those of deeper ones show in rows alone
 */
export function takeNews({ rows, askedAt }: DelegationStatus, roster: ChildRoster, framesAreRead: boolean): RowNews {
  let isAboutPresence = false;
  const progressed: SubagentFacts[] = [];
  const unknownStatuses: string[] = [];
  const listed = new Set<string>();
  for (const facts of rows) {
    listed.add(facts.childId);
    const child = roster.note(facts);
    // It was missed, and is there after all: the count of misses must not go on (A6).
    if (child.omissions > 0) isAboutPresence = true;
    child.omissions = 0;
    const stated = stateOfRow(facts.status);
    if (stated === undefined && child.unknownStatus !== facts.status) {
      unknownStatuses.push(facts.status ?? "");
      isAboutPresence = true;
    }
    child.unknownStatus = stated === undefined ? facts.status : undefined;
    const isRunning = stated === "running";
    if (isRunning && (child.phase === "unseen" || child.phase === "queued")) {
      child.phase = "running";
      child.runningSince = askedAt;
      child.toolCalls = facts.toolCalls;
      isAboutPresence = true;
    }
    if (child.phase !== "running" || facts.toolCalls === undefined || facts.toolCalls === child.toolCalls) continue;
    child.toolCalls = facts.toolCalls;
    if (!framesAreRead || (facts.depth ?? 0) > 0) progressed.push(facts);
  }
  for (const [childId, child] of roster.entries()) {
    if (listed.has(childId) || child.phase !== "running" || child.omissions >= MAX_OMISSIONS) continue;
    // One that started after the question was asked is not missing from the answer.
    if (child.runningSince !== undefined && child.runningSince >= askedAt) continue;
    child.omissions += 1;
    isAboutPresence = true;
  }
  return { isAboutPresence, progressed, unknownStatuses };
}

function coverageOf(
  { rows, askedAt }: DelegationStatus,
  roster: ChildRoster,
  { known, sourceEpoch }: SnapshotStatement,
): "all" | readonly string[] {
  const unspoken = new Set<string>();
  for (const [childId, { phase, runningSince = Number.NEGATIVE_INFINITY }] of roster.entries()) {
    // One that started after the question was asked waited for its turn when it was.
    if (phase === "queued" || (phase === "running" && runningSince >= askedAt)) unspoken.add(childId);
  }
  for (const { childId, state, sourceEpoch: epoch } of known) {
    // What waited in an earlier run of the gateway waits no longer.
    if (state === "created" && epoch === sourceEpoch && roster.phaseOf(childId) === "unseen") unspoken.add(childId);
  }
  for (const { childId } of rows) unspoken.delete(childId);
  if (unspoken.size === 0) return "all";
  const covered = new Set(rows.map(({ childId }) => childId));
  for (const [childId, { phase }] of roster.entries()) {
    if (phase === "running" && !unspoken.has(childId)) covered.add(childId);
  }
  for (const { childId } of known) if (!unspoken.has(childId)) covered.add(childId);
  return [...covered];
}
