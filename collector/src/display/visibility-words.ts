import type { VisibilityContract, VisibilityView } from "@agent-lifecycle/proto";
import { CAPABILITY_WORDS, type ClockWords, durationWords } from "./child-words.ts";

/** One row of what was declared of a source. */
export interface DeclaredFact {
  readonly name: string;
  readonly value: string;
}

/** What was declared of how a source can be seen, and where that differs from what is seen: claims, said as claims. */
export function declaredFacts({ contract, declaredAt, mismatches }: VisibilityView, clock: ClockWords): DeclaredFact[] {
  const { name, version } = contract.adapter;
  return [
    { name: "declared by", value: `${name}${version === undefined ? "" : ` ${version}`} at ${clock(declaredAt)}` },
    { name: "says to know", value: capabilitiesOf(contract) },
    { name: "says to send", value: eventsOf(contract) },
    { name: "says of snapshots", value: snapshotsOf(contract) },
    { name: "says to be lost by", value: lossOf(contract) },
    {
      name: "differs from what is seen",
      value:
        mismatches.length === 0
          ? "in nothing so far"
          : mismatches.map(({ path, text, count }) => `${path}: ${text} (${count} times)`).join("; "),
    },
  ];
}

function capabilitiesOf({ capabilities }: VisibilityContract): string {
  const named = (knowledge: "known" | "unknown"): string =>
    Object.entries({ activity: "activity", ...CAPABILITY_WORDS })
      .filter(([name]) => capabilities[name as keyof typeof capabilities] === knowledge)
      .map(([, words]) => words)
      .join(", ");
  const known = named("known");
  const unknown = named("unknown");
  return [known === "" ? "nothing" : known, ...(unknown === "" ? [] : [`unknown: ${unknown}`])].join("; ");
}

const SEQUENCE_WORDS = { per_child: "a sequence for each child", none: "no sequence", unknown: "sequence unknown" };
const REDACTION_WORDS = {
  before_emission: "redacted before it leaves",
  at_collector: "redacted here first",
  unknown: "redaction unknown",
};

function eventsOf({ events }: VisibilityContract): string {
  const { transport, endpoint, sequence, heartbeatIntervalMs, redaction } = events;
  return [
    transport === "none" ? "nothing" : `${transport}${endpoint === undefined ? "" : ` to ${endpoint}`}`,
    SEQUENCE_WORDS[sequence],
    ...(heartbeatIntervalMs === undefined ? [] : [`a heartbeat every ${durationWords(heartbeatIntervalMs)}`]),
    REDACTION_WORDS[redaction],
  ].join(", ");
}

const AUTHORITY_WORDS = {
  none: "no authority",
  pull: "an authority that can be asked",
  push: "an authority that sends them",
  unknown: "authority unknown",
};
const RECONNECT_WORDS = {
  replays_in_order: "after an interruption, what was missed comes in order",
  resumes_live: "after an interruption, what was missed does not come",
  unknown: "unknown what comes after an interruption",
};

function snapshotsOf({ snapshot }: VisibilityContract): string {
  const { authority, endpoint, reconnect, omissionGrace } = snapshot;
  return [
    `${AUTHORITY_WORDS[authority]}${endpoint === undefined ? "" : ` at ${endpoint}`}`,
    ...(omissionGrace === undefined ? [] : [`missing after ${omissionGrace} omissions`]),
    RECONNECT_WORDS[reconnect],
  ].join(", ");
}

const LOSS_REQUIREMENTS = {
  promised_heartbeats_missing: "promised heartbeats that do not come",
  authority_unreachable: "an authority that cannot be asked",
  authoritative_omission: "an authority that does not list it any more",
};

function lossOf({ loss: { requires, staleAfterMs } }: VisibilityContract): string {
  const evidence = requires.map((requirement) => LOSS_REQUIREMENTS[requirement]).join(", or ");
  const silence = staleAfterMs === undefined ? "" : `after ${durationWords(staleAfterMs)} of silence: `;
  return `${silence}${evidence === "" ? "nothing: silence alone makes nobody lost" : evidence}`;
}
