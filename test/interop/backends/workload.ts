import type { LifecycleEvent, State } from "@agent-lifecycle/proto";
import { formatTimestamp, normalizeEvent } from "@agent-lifecycle/proto";

/** Children that are sent together. */
export interface Wave {
  readonly name: string;
  readonly events: readonly LifecycleEvent[];
  /** What back ends are to have of it. */
  readonly expected: { readonly children: number; readonly records: number; readonly spans: number };
}

export const SOURCE = "interop";

/** Whole lives, of which every fifth fails and every seventh is cancelled. */
export function waveOfLives(name: string, children: number, now: number): Wave {
  const events = Array.from({ length: children }, (_, index) => {
    const end = index % 5 === 0 ? "failed" : index % 7 === 0 ? "cancelled" : "completed";
    const childId = `${name}-${index}`;
    const steps: readonly Step[] = [
      { state: "created" },
      { state: "starting" },
      { state: "running" },
      { activity: "reads what it was given" },
      { state: "waiting" },
      { state: "running" },
      { state: end },
    ];
    return steps.map((step, sequence) => eventOf(childId, sequence + 1, now - 10_000 + sequence * 100, step));
  }).flat();
  return { name, events, expected: { children, records: children * 7, spans: children * 6 } };
}

/** Children that wait for a permission, and go on doing so. */
export function waveOfWaiting(name: string, children: number, now: number): Wave {
  const states = ["created", "starting", "running", "waiting"] as const;
  const events = Array.from({ length: children }, (_, index) =>
    states.map((state, sequence) => eventOf(`${name}-${index}`, sequence + 1, now - 1_000 + sequence, { state })),
  ).flat();
  return { name, events, expected: { children, records: children * 4, spans: children * 3 } };
}

/** One child that is created and cancelled: the least that is seen by logs, traces and metrics. */
export function probe(name: string, now: number): Wave {
  const events = (["created", "cancelled"] as const).map((state, sequence) =>
    eventOf(name, sequence + 1, now - 10 + sequence, { state }),
  );
  return { name, events, expected: { children: 1, records: 2, spans: 2 } };
}

type Step = { readonly state: State } | { readonly activity: string };

function eventOf(childId: string, sequence: number, at: number, step: Step): LifecycleEvent {
  const state = "state" in step ? step.state : undefined;
  const isEnd = state === "failed" || state === "cancelled" || state === "completed";
  const kind =
    state === undefined ? "activity" : state === "created" ? "created" : isEnd ? "terminal" : "state_changed";
  const normalized = normalizeEvent({
    schemaVersion: 1,
    eventId: `${childId}/${sequence}`,
    source: SOURCE,
    sourceEpoch: "epoch-1",
    childId,
    lineage: { rootChildId: childId, attempt: 0, external: false },
    kind,
    ...step,
    ...(state === "waiting" ? { details: { waitingOn: { kind: "permission" } } } : undefined),
    ...(state === "failed" ? { details: { cause: "out_of_memory" } } : undefined),
    observedAt: formatTimestamp(at),
    sequence,
  });
  if (!normalized.ok) throw new Error(JSON.stringify(normalized.diagnostic));
  return normalized.event;
}
