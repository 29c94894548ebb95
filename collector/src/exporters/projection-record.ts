import { bodyOf, cutText, formatTimestamp, type Severity, severityOf } from "@agent-lifecycle/proto";
import { PROJECTION_EVENT_NAME } from "../telemetry/record-attributes.ts";
import { recordUidOf, rootSpanIdOf, traceIdOf } from "../telemetry/trace-identity.ts";
import type { ChildUpdate, Transition } from "./child-update.ts";
import { attributes, identityValues, type RecordAttributes } from "./record-values.ts";

/** A log record of what became of a child, before it takes the form of a protocol. */
export interface ProjectionRecord {
  /** When the collector got the input. Milliseconds since the epoch. */
  readonly at: number;
  /**
   * Nanoseconds within that millisecond: its input's number, so that two records of one time have an order, and no back
   * end that drops exact repetitions takes one for the other.
   */
  readonly atNanos: number;
  readonly uid: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly severity: Severity;
  readonly body: string;
  readonly attributes: RecordAttributes;
}

const NANOS_PER_MS = 1_000_000;
const MAX_BODY_LENGTH = 256;
const DEBUG: Severity = { number: 5, text: "DEBUG" };
const INFO: Severity = { number: 9, text: "INFO" };
const WARN: Severity = { number: 13, text: "WARN" };
const FAILED: Severity = { number: 17, text: "ERROR" };
const LOST: Severity = { number: 18, text: "ERROR" };

export function projectionRecordOf(update: ChildUpdate): ProjectionRecord {
  const { inputId, index, at, source, childId, lineage, status, diagnostic, what } = update;
  const uid = recordUidOf(source, childId, String(inputId), String(index), String(at));
  return {
    at,
    atNanos: (inputId + index) % NANOS_PER_MS,
    uid,
    traceId: traceIdOf({ source, rootChildId: lineage?.rootChildId ?? childId }),
    spanId: rootSpanIdOf({ source, childId }),
    severity: severityOfUpdate(update),
    body: cutText(sentenceOf(update), MAX_BODY_LENGTH),
    attributes: attributes({
      eventName: PROJECTION_EVENT_NAME,
      uid,
      update: what.kind,
      inputId,
      ...identityValues(update),
      status,
      diagnostic,
      provisional: status === "provisional" ? true : undefined,
      ...valuesOf(update),
    }),
  };
}

function valuesOf({ what }: ChildUpdate): Parameters<typeof attributes>[0] {
  switch (what.kind) {
    case "state":
      return { ...transitionValues(what.transition), ...eventValues(what.event) };
    case "correction":
      return { ...transitionValues(what.transition), snapshotId: what.snapshotId };
    case "loss":
      return { ...transitionValues(what.transition), errorType: "failed_reconciliation" };
    case "stale":
      return { state: what.state, staleReason: what.reason, observedAt: formatTimestamp(what.since) };
    case "unanswered":
      return { state: what.state };
    case "epoch":
      return { previousEpoch: what.from, sourceEpoch: what.to };
    case "activity":
      return eventValues(what.event);
    case "objection":
      return { ...eventValues(what.event), claimedState: what.event.state };
  }
}

function transitionValues({ to, at, evidence, left }: Transition): Parameters<typeof attributes>[0] {
  return {
    state: to,
    observedAt: formatTimestamp(at),
    evidence,
    previousState: left?.state,
    previousStateSeconds: left === undefined ? undefined : Math.max(0, at - left.since) / 1_000,
  };
}

function eventValues(event: Extract<ChildUpdate["what"], { readonly kind: "activity" }>["event"]) {
  const { details, state } = event;
  return {
    observedAt: event.observedAt,
    sequence: event.sequence,
    eventId: event.eventId,
    eventKind: event.kind,
    activity: event.activity,
    waitingOn: state === "waiting" ? (details?.waitingOn?.kind ?? "unknown") : undefined,
    toolName: details?.tool,
    exitCode: details?.exitCode,
    errorType: state === "failed" || state === "lost" ? details?.cause : undefined,
  };
}

function severityOfUpdate({ what }: ChildUpdate): Severity {
  switch (what.kind) {
    case "state":
      return severityOf(what.event);
    case "correction":
    case "loss":
      return what.transition.to === "lost" ? LOST : what.transition.to === "failed" ? FAILED : INFO;
    case "stale":
    case "unanswered":
    case "objection":
      return WARN;
    case "epoch":
      return INFO;
    case "activity":
      return DEBUG;
  }
}

function sentenceOf({ what, childId, name, diagnostic }: ChildUpdate): string {
  const who = name ?? childId;
  switch (what.kind) {
    case "state":
    case "activity":
      return bodyOf(what.event);
    case "correction":
      return `${who} is ${what.transition.to}, by a snapshot`;
    case "loss":
      return `${who} is lost: silent, and nobody could say what became of it`;
    case "stale":
      return `${who} is stale: no evidence since ${formatTimestamp(what.since)}`;
    case "unanswered":
      return `${who} stays stale: nobody can answer for it`;
    case "epoch":
      return `${who} goes on in epoch ${what.to}`;
    case "objection":
      return `refused (${diagnostic ?? "unknown"}): ${bodyOf(what.event)}`;
  }
}
