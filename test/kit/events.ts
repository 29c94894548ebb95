import {
  formatTimestamp,
  isTerminal,
  type LifecycleEvent,
  type LifecycleEventInput,
  type LifecycleSnapshot,
  normalizeEvent,
  normalizeSnapshot,
  type State,
} from "@agent-lifecycle/proto";
import { START_MS } from "./start-time.ts";

export type EventMembers = Partial<Omit<LifecycleEventInput, "lineage" | "observedAt">> & {
  readonly lineage?: Partial<LifecycleEventInput["lineage"]>;
  /** Milliseconds after the start of the test. */
  readonly at?: number;
};

/** A valid, normalized event; what a test does not say is plain. @throws when what it says breaks the contract. */
export function makeEvent({ at = 0, lineage, ...members }: EventMembers): LifecycleEvent {
  const { childId = "child-1", sourceEpoch = "epoch-1", sequence, state } = members;
  const kind = members.kind ?? (state === undefined ? "heartbeat" : kindOf(state));
  const normalized = normalizeEvent({
    schemaVersion: 1,
    source: "runner",
    sourceEpoch,
    childId,
    eventId: `${childId}/${sourceEpoch}/${sequence ?? `at ${at}`}/${kind}/${state ?? ""}`,
    kind,
    observedAt: formatTimestamp(START_MS + at),
    ...members,
    lineage: { rootChildId: childId, attempt: 0, external: false, ...lineage },
  });
  if (!normalized.ok) throw new Error(`not an event: ${JSON.stringify(normalized.diagnostic)}`);
  return normalized.event;
}

function kindOf(state: State): LifecycleEvent["kind"] {
  if (state === "created") return "created";
  return isTerminal(state) ? "terminal" : "state_changed";
}

export type SnapshotMembers = Partial<Omit<LifecycleSnapshot, "observedAt" | "children">> & {
  readonly children?: readonly (Partial<LifecycleSnapshot["children"][number]> & { readonly childId: string })[];
  /** Milliseconds after the start of the test. */
  readonly at?: number;
};

/** A valid, normalized snapshot, complete and covering all unless said otherwise. */
export function makeSnapshot({ at = 0, children = [], ...members }: SnapshotMembers): LifecycleSnapshot {
  const normalized = normalizeSnapshot({
    source: "runner",
    sourceEpoch: "epoch-1",
    snapshotId: `snapshot at ${at}`,
    observedAt: formatTimestamp(START_MS + at),
    complete: true,
    coverage: "all",
    ...members,
    children: children.map((entry) => ({ state: "running", ...entry })),
  });
  if (!normalized.ok) throw new Error(`not a snapshot: ${JSON.stringify(normalized.diagnostic)}`);
  return normalized.snapshot;
}
