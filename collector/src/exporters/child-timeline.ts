import { isTerminal, type LifecycleEvent, type Lineage, type State } from "@agent-lifecycle/proto";
import type { ChildRecord, TerminalEvidence } from "../core/index.ts";
import { intervalSpanIdOf } from "../telemetry/trace-identity.ts";
import type { Transition } from "./child-update.ts";

/** How a child stands at one place in the log, as far as exports ask. A value; it does not grow. */
export interface ChildTimeline {
  readonly source: string;
  readonly childId: string;
  readonly lineage: Lineage | undefined;
  readonly name: string | undefined;
  readonly epoch: string | undefined;
  readonly state: State | undefined;
  readonly since: number;
  readonly firstStateAt: number;
  /** The span of the newest interval that has ended, and the epoch that it ended in. */
  readonly lastSpan: { readonly spanId: string; readonly epoch: string | undefined } | undefined;
}

export function unknownChild(source: string, childId: string): ChildTimeline {
  return {
    source,
    childId,
    lineage: undefined,
    name: undefined,
    epoch: undefined,
    state: undefined,
    since: 0,
    firstStateAt: 0,
    lastSpan: undefined,
  };
}

/** What a record tells that was folded from inputs that are gone. */
export function timelineOf(record: ChildRecord): ChildTimeline {
  const { source, childId, lineage, facts, epoch, state, stateAt = 0, firstObservedAt } = record;
  return {
    ...unknownChild(source, childId),
    lineage,
    name: facts?.name,
    epoch,
    state,
    since: stateAt,
    firstStateAt: Math.min(firstObservedAt, stateAt),
  };
}

/** What an accepted event teaches beside its state. */
export function learn(timeline: ChildTimeline, event: LifecycleEvent): ChildTimeline {
  return {
    ...timeline,
    lineage: event.lineage.parentChildId === undefined ? (timeline.lineage ?? event.lineage) : event.lineage,
    name: event.details?.name ?? timeline.name,
    epoch: event.sourceEpoch,
  };
}

/** The state that an input states, when it is another than the child has. */
export function enterState(
  timeline: ChildTimeline,
  to: State,
  at: number,
  { evidence, isProvisional }: { readonly evidence: TerminalEvidence; readonly isProvisional: boolean },
): { readonly timeline: ChildTimeline; readonly transition: Transition } | undefined {
  if (timeline.state === to || isTerminal(timeline.state)) return undefined;
  const { state, since, lastSpan, epoch } = timeline;
  const firstStateAt = state === undefined ? at : timeline.firstStateAt;
  const entered = { ...timeline, state: to, since: at, firstStateAt };
  if (state === undefined)
    return { timeline: entered, transition: { to, at, evidence, left: undefined, firstStateAt } };
  const spanId = intervalSpanIdOf(timeline, { state, since, next: to, until: at });
  const previousEpochSpanId = lastSpan !== undefined && lastSpan.epoch !== epoch ? lastSpan.spanId : undefined;
  const left = { state, since, isProvisional, previousEpochSpanId, spanId };
  return {
    timeline: { ...entered, lastSpan: { spanId, epoch } },
    transition: { to, at, evidence, left, firstStateAt },
  };
}
