import { type LifecycleEvent, type LifecycleEventInput, normalizeEvent } from "@agent-lifecycle/proto";

export const SOURCE = "bench-runner";
const SOURCE_EPOCH = "3d0f2f0e-6a45-4bb1-8d3b-5f2c1a9e7b10";
/** A root and those it delegated to. */
export const CHILDREN_PER_COHORT = 32;
/** From created to the end. */
export const EVENTS_PER_CHILD = 64;

const STARTED_AT_MS = Date.UTC(2026, 8, 1, 9);
const PASSED_BETWEEN_EVENTS_MS = 250;

export interface CohortOptions {
  /** Whether the children end with their last event; otherwise they go on running. Default true. */
  readonly ends?: boolean;
  /** How much each child says, from its first event on. Default: everything. */
  readonly eventsPerChild?: number;
  /** Whether they say what they do and who they are, or only that they live. Default true. */
  readonly talkative?: boolean;
}

/** The text by which all ids of a cohort, and nothing else, name it. As long for every number below 10^8. */
export function cohortMark(cohort: number): string {
  return `4d1c-9e10-${String(cohort).padStart(8, "0")}`;
}

/**
 * What a gang of children says in its life, in the order it is said: all first events, all second ones, and so on. The
 * mix is that of agents at work: mostly activities and heartbeats, now and then a wait.
 */
export function cohortEvents(cohort: number, options: CohortOptions = {}): readonly LifecycleEvent[] {
  const { ends = true, eventsPerChild = EVENTS_PER_CHILD, talkative = true } = options;
  const events: LifecycleEvent[] = [];
  for (let sequence = 1; sequence <= eventsPerChild; sequence += 1) {
    for (let child = 0; child < CHILDREN_PER_COHORT; child += 1) {
      const report = reportOf(child, sequence, ends);
      events.push(eventOf(cohort, child, sequence, talkative ? report : bareReport(report)));
    }
  }
  return events;
}

export function childIdOf(cohort: number, child: number): string {
  return `0f6c8e52-${cohortMark(cohort)}${String(child).padStart(4, "0")}`;
}

function eventOf(cohort: number, child: number, sequence: number, report: Report): LifecycleEvent {
  const childId = childIdOf(cohort, child);
  const rootChildId = childIdOf(cohort, 0);
  const observedAtMs = STARTED_AT_MS + sequence * PASSED_BETWEEN_EVENTS_MS + child;
  const input: LifecycleEventInput = {
    schemaVersion: 1,
    eventId: `${childId}:${sequence}`,
    source: SOURCE,
    sourceEpoch: SOURCE_EPOCH,
    childId,
    lineage: {
      rootChildId,
      attempt: 0,
      external: false,
      ...(child === 0 ? undefined : { parentChildId: rootChildId }),
    },
    observedAt: new Date(observedAtMs).toISOString(),
    sequence,
    ...report,
  };
  const normalized = normalizeEvent(input);
  if (!normalized.ok) throw new Error(`the load breaks the contract: ${JSON.stringify(normalized.diagnostic)}`);
  return normalized.event;
}

type Report = Pick<LifecycleEventInput, "kind" | "state" | "activity" | "details" | "capabilities">;

const CAPABILITIES = { heartbeat: "known", terminalCause: "known" } as const;
const TOOLS = ["read_file", "run_tests", "search_code", "edit_file"] as const;

function reportOf(child: number, sequence: number, ends: boolean): Report {
  const details = { name: `worker ${child}`, model: "orchid-4-large" };
  const state = stateAt(sequence, ends);
  if (state === "created") return { kind: "created", state, details, capabilities: CAPABILITIES };
  if (state === "completed") return { kind: "terminal", state, details, capabilities: CAPABILITIES };
  if (state !== undefined) return { kind: "state_changed", state, details, capabilities: CAPABILITIES };
  const tool = TOOLS[(child + sequence) % TOOLS.length] ?? TOOLS[0];
  if (sequence % 2 === 0) {
    return {
      kind: "heartbeat",
      details: { ...details, usage: { inputTokens: sequence * 310, outputTokens: sequence * 42 } },
    };
  }
  return { kind: "activity", activity: `${tool} on src/module-${sequence}.ts`, details: { ...details, tool } };
}

/** The same without what is said for people: states stay, everything else is a sign of life. */
function bareReport({ kind, state, capabilities }: Report): Report {
  return state === undefined || capabilities === undefined ? { kind: "heartbeat" } : { kind, state, capabilities };
}

function stateAt(sequence: number, ends: boolean): LifecycleEventInput["state"] {
  if (sequence === 1) return "created";
  if (sequence === 2) return "starting";
  if (sequence === 3) return "running";
  if (sequence === EVENTS_PER_CHILD && ends) return "completed";
  if (sequence % 16 === 8) return "waiting";
  return sequence % 16 === 10 ? "running" : undefined;
}
