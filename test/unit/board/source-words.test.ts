import { evidenceWords, offerWords } from "@agent-lifecycle/collector/parts";
import { type AdapterView, capabilitiesFrom } from "@agent-lifecycle/proto";
import { expect, it, test } from "vitest";

const AT = "2026-09-01T09:00:00.000Z";

const adapter: AdapterView = {
  address: "ws://127.0.0.1:9119/api/ws",
  connection: { state: "connected", since: AT, count: 1, lastEnd: null },
  epoch: "epoch-1",
  features: { replay: true, sharedSessions: false, interrupt: "any_client" },
  capabilities: capabilitiesFrom({ history: "known", terminalCause: "known" }),
  lastLookAt: AT,
  lastFailure: null,
  runningChildren: 1,
  attachedSessions: 0,
  eventsStored: 1,
  eventsRefused: 0,
  snapshotsStored: 1,
  problems: {},
};

test.each([
  ["event", "events of its own"],
  ["authoritative_snapshot", "a snapshot of its source's authority"],
  ["failed_reconciliation", "nobody's answer by its deadline"],
  [null, ""],
] as const)("a state by %s rests on: %s", (stateEvidence, words) => {
  expect(evidenceWords({ stateEvidence })).toBe(words);
});

it("says what was found to be offered, and nothing where nothing was found", () => {
  expect(offerWords(adapter)).toBe(
    "replay: yes, sharedSessions: no, interrupt: any_client; known of its children: history, terminal cause",
  );
  expect(offerWords({ ...adapter, features: null })).toBe("not known while there is no connection");
});
