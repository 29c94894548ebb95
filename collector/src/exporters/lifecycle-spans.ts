import { isTerminal, type State } from "@agent-lifecycle/proto";
import { SPAN_NAMES } from "../telemetry/record-attributes.ts";
import { rootSpanIdOf, traceIdOf } from "../telemetry/trace-identity.ts";
import type { ChildUpdate, Transition } from "./child-update.ts";
import { attributes, identityValues, type RecordAttributes } from "./record-values.ts";

/** A span that has ended, before it takes the form of a protocol. */
export interface LifecycleSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly status: SpanEnd;
  readonly attributes: RecordAttributes;
  readonly links: readonly SpanLink[];
}

export interface SpanEnd {
  readonly code: "unset" | "ok" | "error";
  readonly message?: string;
}

export interface SpanLink {
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: RecordAttributes;
}

const UNSET: SpanEnd = { code: "unset" };

/**
 * What a change of state ends: the time in the state that was left, and with an end, the child's life. Every span is
 * complete when it is made, and says of itself all that a search may ask: back ends cut traces of hours into pieces, and
 * what has not ended is seen by what of it has.
 */
export function spansOf(update: ChildUpdate): readonly LifecycleSpan[] {
  const { what } = update;
  if (what.kind !== "state" && what.kind !== "correction" && what.kind !== "loss") return [];
  const { transition } = what;
  const interval = intervalSpan(update, transition);
  const child = isTerminal(transition.to) ? [childSpan(update, transition)] : [];
  return interval === undefined ? child : [interval, ...child];
}

function intervalSpan(update: ChildUpdate, { to, at, evidence, left }: Transition): LifecycleSpan | undefined {
  if (left === undefined) return undefined;
  const traceId = traceOf(update);
  const { previousEpochSpanId } = left;
  return {
    name: `${SPAN_NAMES.interval} ${left.state}`,
    traceId,
    spanId: left.spanId,
    parentSpanId: rootSpanIdOf(update),
    startedAt: left.since,
    // Clocks of sources go back at times.
    endedAt: Math.max(left.since, at),
    status: UNSET,
    attributes: attributes({
      ...identityValues(update),
      span: "interval",
      state: left.state,
      nextState: to,
      evidence,
      provisional: left.isProvisional ? true : undefined,
    }),
    links:
      previousEpochSpanId === undefined
        ? []
        : [{ traceId, spanId: previousEpochSpanId, attributes: attributes({ link: "previous_epoch" }) }],
  };
}

function childSpan(update: ChildUpdate, { to, at, evidence, firstStateAt }: Transition): LifecycleSpan {
  const { source, childId, lineage } = update;
  const traceId = traceOf(update);
  const parent = lineage?.parentChildId;
  const isRetry = (lineage?.attempt ?? 0) > 0 && lineage !== undefined && lineage.rootChildId !== childId;
  const cause = causeOf(update, to);
  return {
    name: SPAN_NAMES.child,
    traceId,
    spanId: rootSpanIdOf(update),
    parentSpanId: parent === undefined ? undefined : rootSpanIdOf({ source, childId: parent }),
    startedAt: firstStateAt,
    endedAt: Math.max(firstStateAt, at),
    status: endOf(to, cause),
    attributes: attributes({
      ...identityValues(update),
      span: "child",
      state: to,
      evidence,
      provisional: update.status === "provisional" ? true : undefined,
      errorType: to === "failed" || to === "lost" ? cause : undefined,
    }),
    links: isRetry
      ? [
          {
            traceId,
            spanId: rootSpanIdOf({ source, childId: lineage.rootChildId }),
            attributes: attributes({ link: "first_attempt" }),
          },
        ]
      : [],
  };
}

/** Cancelling is no failure, and no success either. */
function endOf(state: State, cause: string | undefined): SpanEnd {
  if (state === "completed") return { code: "ok" };
  if (state === "cancelled") return UNSET;
  return { code: "error", message: cause === undefined ? state : `${state}: ${cause}` };
}

function causeOf({ what }: ChildUpdate, state: State): string | undefined {
  if (what.kind === "state") return what.event.details?.cause;
  if (what.kind === "loss") return "failed_reconciliation";
  return state === "failed" || state === "lost" ? "authoritative_snapshot" : undefined;
}

function traceOf({ source, childId, lineage }: ChildUpdate): string {
  return traceIdOf({ source, rootChildId: lineage?.rootChildId ?? childId });
}
