import {
  canonicalEvent,
  encodeLogsProtobuf,
  type LifecycleEvent,
  normalizeEvent,
  parseCanonicalEvent,
} from "@agent-lifecycle/proto";
import { makeEvent } from "../kit/events.ts";
import { logsOf, recordOf } from "../kit/otlp-logs.ts";
import { expectThat, MAX_PROBLEM_LENGTH } from "./target.ts";

/** Valid events of every kind of content; what is broken is broken from these. */
export const EVENTS: readonly LifecycleEvent[] = [
  makeEvent({ sequence: 0, state: "created", details: { name: "reviewer", usage: { inputTokens: 12, costUsd: 0.5 } } }),
  makeEvent({ sequence: 1, state: "starting", at: 1, capabilities: { heartbeat: "known", cancel: "unknown" } }),
  makeEvent({ sequence: 2, kind: "activity", activity: "liest 论文 🙂", at: 2, lineage: { parentChildId: "child-0" } }),
  makeEvent({
    state: "waiting",
    at: 3,
    details: { waitingOn: { kind: "user", text: "may I?" }, deep: { a: [1, null, true] } },
  }),
  makeEvent({ sequence: 4, state: "failed", at: 4, details: { cause: "timeout", exitCode: 3, signal: "SIGTERM" } }),
];

export const CANDIDATES: readonly unknown[] = EVENTS.map((event) => JSON.parse(canonicalEvent(event)) as unknown);

export const PROTOBUF_LOGS: Buffer = Buffer.from(encodeLogsProtobuf(logsOf(...EVENTS.map(recordOf))));

/** Whatever a candidate is: an event that is the same when it is normalized again, or one objection. */
export function judgeCandidate(candidate: unknown): LifecycleEvent | undefined {
  const normalized = normalizeEvent(candidate);
  if (!normalized.ok) {
    expectThat(normalized.diagnostic.code === "invalid_event", "an objection of another kind");
    expectThat(JSON.stringify(normalized.diagnostic).length < MAX_PROBLEM_LENGTH, "an objection without bound");
    return undefined;
  }
  const text = canonicalEvent(normalized.event);
  const again = normalizeEvent(JSON.parse(text));
  expectThat(again.ok && canonicalEvent(again.event) === text, `normalizing twice changes it: ${text}`);
  expectThat(canonicalEvent(parseCanonicalEvent(text)) === text, `the canonical text reads as something else: ${text}`);
  return normalized.event;
}
