import { authorityWords, connectionWords, evidenceWords, offerWords } from "@agent-lifecycle/collector/parts";
import { type AdapterView, type AuthorityView, capabilitiesFrom } from "@agent-lifecycle/proto";
import { expect, it, test } from "vitest";

const clock = (timestamp: string): string => timestamp.slice(11, 19);
const AT = "2026-09-01T09:00:00.000Z";

const authority: AuthorityView = {
  id: "hermes/main",
  kind: "hermes",
  supportLevel: "experimental",
  answers: 3,
  failures: 2,
  failuresInARow: 0,
  lastAnsweredAt: AT,
  lastFailedAt: null,
  lastFailure: null,
  inFlightSince: null,
  nextDueAt: AT,
  statement: null,
};

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
  ["failed_reconciliation", "nobody answered for it by its deadline"],
  [null, ""],
] as const)("a state by %s rests on: %s", (stateEvidence, words) => {
  expect(evidenceWords({ stateEvidence, facts: {} })).toBe(words);
});

test.each([
  ["omitted_by_authority", "its source's authority does not list it any more"],
  ["authority_unreachable", "its source's authority could not be asked by its deadline"],
  ["heartbeats_stopped", "promised heartbeats did not come by its deadline"],
])("a loss by %s rests on: %s", (cause, words) => {
  expect(evidenceWords({ stateEvidence: "failed_reconciliation", facts: { cause } })).toBe(words);
});

it("says who can be asked, how far that may be relied on, and how it goes", () => {
  expect(authorityWords(authority, clock)).toBe("hermes/main (hermes, experimental); answered last at 09:00:00");
  const failing = { ...authority, lastAnsweredAt: null, failuresInARow: 2, lastFailure: "not connected" };
  expect(authorityWords(failing, clock)).toBe(
    "hermes/main (hermes, experimental); has not answered yet; failed 2 times since: not connected",
  );
  expect(authorityWords(null, clock)).toBe("none: silence is judged by what children promised");
});

it("says how an adapter is connected, and how the connection before ended", () => {
  expect(connectionWords(adapter, clock)).toBe("ws://127.0.0.1:9119/api/ws: connected since 09:00:00");
  const lastEnd = { at: AT, kind: "unreachable", text: "ECONNREFUSED" };
  const connection = { state: "disconnected", since: null, count: 2, lastEnd } as const;
  expect(connectionWords({ ...adapter, connection }, clock)).toBe(
    "ws://127.0.0.1:9119/api/ws: disconnected; 2 connections so far; the last end at 09:00:00: ECONNREFUSED",
  );
});

it("says what was found to be offered, and nothing where nothing was found", () => {
  expect(offerWords(adapter)).toBe(
    "replay: yes, sharedSessions: no, interrupt: any_client; known of its children: history, terminal cause",
  );
  expect(offerWords({ ...adapter, features: null })).toBe("not known while there is no connection");
});
