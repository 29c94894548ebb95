import { attributesOf, bodyOf, eventName, severityOf } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { sampleEvent } from "../../kit/otlp-logs.ts";

describe("attributes", () => {
  test("are flat and scalar, and the extras are there where the details have them", () => {
    const event = sampleEvent({
      kind: "terminal",
      state: "lost",
      activity: "Reading",
      lineage: { rootChildId: "r", attempt: 0, external: true, adoptedAt: "2026-09-01T08:00:00Z" },
      details: { name: "Researcher", tool: "Bash", cause: "vanished", exitCode: 137, free: { a: 1 } },
    });
    expect(attributesOf(event)).toEqual({
      "agent_lifecycle.schema_version": 1,
      "agent_lifecycle.event_id": "e-1",
      "log.record.uid": "e-1",
      event_name: "agent_lifecycle.terminal",
      "agent_lifecycle.source": "test",
      "agent_lifecycle.source_epoch": "epoch-1",
      "agent_lifecycle.child_id": "child-1",
      "agent_lifecycle.root_child_id": "r",
      "agent_lifecycle.attempt": 0,
      "agent_lifecycle.external": true,
      "agent_lifecycle.adopted_at": "2026-09-01T08:00:00.000Z",
      "agent_lifecycle.state": "lost",
      "agent_lifecycle.sequence": 7,
      "agent_lifecycle.activity": "Reading",
      "agent_lifecycle.capability.heartbeat": "known",
      "agent_lifecycle.details": '{"cause":"vanished","exitCode":137,"free":{"a":1},"name":"Researcher","tool":"Bash"}',
      "gen_ai.agent.name": "Researcher",
      "gen_ai.tool.name": "Bash",
      "error.type": "vanished",
      "process.exit.code": 137,
    });
  });

  test.each([
    [{ kind: "created", state: "created" }, 9, "child-1 was created"],
    [{ kind: "state_changed", state: "running", activity: "Reading" }, 9, "child-1 is running: Reading"],
    [
      { state: "waiting", details: { waitingOn: { kind: "provider_retry" } } },
      13,
      "child-1 is waiting for provider retry",
    ],
    [{ kind: "activity", state: undefined, details: { tool: "Bash" }, activity: "ls" }, 5, "child-1 uses Bash: ls"],
    [{ kind: "heartbeat", state: undefined }, 5, "child-1 is alive"],
    [{ kind: "diagnostic", state: undefined }, 13, "child-1 has a diagnostic"],
    [{ kind: "reconciliation", state: undefined }, 9, "child-1 is being reconciled"],
    [{ kind: "terminal", state: "completed" }, 9, "child-1 completed"],
    [{ kind: "terminal", state: "cancelled" }, 9, "child-1 was cancelled"],
    [{ kind: "terminal", state: "failed" }, 17, "child-1 failed"],
    [{ kind: "terminal", state: "lost" }, 18, "child-1 is lost"],
  ])("%j has severity %i and reads %j", (members, severity, body) => {
    const event = sampleEvent(members);
    expect(severityOf(event).number).toBe(severity);
    expect(bodyOf(event)).toBe(body);
    expect(eventName(event.kind)).toBe(`agent_lifecycle.${event.kind}`);
  });

  test("a body is short", () => {
    expect(bodyOf(sampleEvent({ activity: "x".repeat(1000) })).length).toBe(256);
  });
});
