import { declaredFacts } from "@agent-lifecycle/collector/parts";
import type { VisibilityContract } from "@agent-lifecycle/proto";
import { expect, it } from "vitest";

const AT = "2026-09-01T09:00:00.000Z";
const clock = (timestamp: string): string => timestamp.slice(11, 19);

const CONTRACT: VisibilityContract = {
  contractVersion: 1,
  source: "runner",
  sourceEpoch: "epoch-1",
  adapter: { name: "@agent-lifecycle/sdk", version: "0.1.0" },
  epochPolicy: "new_for_each_start",
  capabilities: {
    activity: "known",
    heartbeat: "known",
    snapshot: "unknown",
    cancel: "unknown",
    history: "unknown",
    terminalCause: "known",
  },
  events: {
    transport: "otlp",
    endpoint: "http://127.0.0.1:4318/v1/logs",
    sequence: "per_child",
    heartbeatIntervalMs: 15_000,
    redaction: "before_emission",
  },
  snapshot: { authority: "pull", endpoint: "http://127.0.0.1:8900/", reconnect: "replays_in_order", omissionGrace: 2 },
  loss: { requires: ["authority_unreachable", "authoritative_omission"], staleAfterMs: 120_000 },
};

function factsOf(contract: VisibilityContract, mismatches: Parameters<typeof declaredFacts>[0]["mismatches"] = []) {
  const facts = declaredFacts({ contract, declaredAt: AT, mismatches }, clock);
  return Object.fromEntries(facts.map(({ name, value }) => [name, value]));
}

it("says what was declared as a claim, known and unknown both", () => {
  expect(factsOf(CONTRACT)).toEqual({
    "declared by": "@agent-lifecycle/sdk 0.1.0 at 09:00:00",
    "says to know": "activity, heartbeat, terminal cause; unknown: history, snapshot, cancel",
    "says to send":
      "otlp to http://127.0.0.1:4318/v1/logs, a sequence for each child, a heartbeat every 15 s, redacted before it leaves",
    "says of snapshots":
      "an authority that can be asked at http://127.0.0.1:8900/, missing after 2 omissions, after an interruption, what was missed comes in order",
    "says to be lost by":
      "after 2 min 0 s of silence: an authority that cannot be asked, or an authority that does not list it any more",
    "differs from what is seen": "in nothing so far",
  });
});

it("says what is unknown or absent as that, and every difference with how often it was seen", () => {
  const nothing: VisibilityContract = {
    ...CONTRACT,
    adapter: { name: "mine" },
    capabilities: {
      activity: "unknown",
      heartbeat: "unknown",
      snapshot: "unknown",
      cancel: "unknown",
      history: "unknown",
      terminalCause: "unknown",
    },
    events: { transport: "none", sequence: "unknown", redaction: "unknown" },
    snapshot: { authority: "unknown", reconnect: "unknown" },
    loss: { requires: [] },
  };
  const mismatch = { path: "events.sequence", text: "an event has none", count: 3, firstSeenAt: AT, lastSeenAt: AT };
  expect(factsOf(nothing, [mismatch])).toEqual({
    "declared by": "mine at 09:00:00",
    "says to know": "nothing; unknown: activity, history, heartbeat, snapshot, cancel, terminal cause",
    "says to send": "nothing, sequence unknown, redaction unknown",
    "says of snapshots": "authority unknown, unknown what comes after an interruption",
    "says to be lost by": "nothing: silence alone makes nobody lost",
    "differs from what is seen": "events.sequence: an event has none (3 times)",
  });
});
