import { normalizeVisibilityContract, type VisibilityContract, validVisibilityContract } from "@agent-lifecycle/proto";
import { createLifecycle, type LifecycleOptions } from "@agent-lifecycle/sdk";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "../../kit/event-file.ts";
import { writtenLifecycle } from "./lifecycle-fixture.ts";

function contractOf(options: Partial<LifecycleOptions>, environment: Record<string, string> = {}): VisibilityContract {
  const lifecycle = createLifecycle({ source: "unit", exitHooks: false, ...options }, { environment });
  onTestFinished(async () => {
    await lifecycle.shutdown({ timeoutMs: 0 });
  });
  return lifecycle.visibilityContract();
}

describe("a visibility contract", () => {
  it("states the real configuration, and what is not known as unknown", () => {
    const spool = { directory: temporaryDirectory() };
    const endpoint = "http://user:hunter2example@127.0.0.1:4318?key=hunter2example";
    const contract = contractOf({ endpoint, spool, sourceEpoch: "e", heartbeatIntervalMs: 5_000 });
    expect(contract).toEqual({
      contractVersion: 1,
      source: "unit",
      sourceEpoch: "e",
      adapter: { name: "@agent-lifecycle/sdk", version: expect.any(String) },
      epochPolicy: "stated_by_host",
      capabilities: {
        activity: "known",
        heartbeat: "known",
        snapshot: "unknown",
        cancel: "unknown",
        history: "unknown",
        terminalCause: "unknown",
      },
      events: {
        transport: "otlp",
        endpoint: "http://127.0.0.1:4318/v1/logs",
        sequence: "per_child",
        heartbeatIntervalMs: 5_000,
        redaction: "before_emission",
      },
      snapshot: { authority: "none", reconnect: "replays_in_order" },
      loss: { requires: ["promised_heartbeats_missing"] },
    });
    expect(validVisibilityContract(contract)).toBe(true);
  });

  it("promises nothing where nothing is sent", () => {
    expect(contractOf({}, { OTEL_SDK_DISABLED: "true" })).toMatchObject({
      capabilities: { activity: "unknown", heartbeat: "unknown" },
      events: { transport: "none" },
      loss: { requires: [] },
    });
    expect(contractOf({ jsonl: "stderr", heartbeatIntervalMs: 0 })).toMatchObject({
      capabilities: { heartbeat: "unknown" },
      events: { transport: "jsonl", endpoint: "stderr" },
      epochPolicy: "new_for_each_start",
      loss: { requires: [] },
    });
  });

  it("takes up what the host adds, and says no to what is no contract", () => {
    const { lifecycle, diagnostics } = writtenLifecycle();
    const contract = lifecycle.visibilityContract({
      adapter: { name: "dispatcher" },
      capabilities: { cancel: "known" },
      snapshot: { authority: "pull", endpoint: "http://127.0.0.1:9000/children", omissionGrace: 3 },
      loss: { requires: ["authority_unreachable", "authoritative_omission"], staleAfterMs: 60_000 },
      details: { model: "large-1", apiKey: "hunter2example" },
    });
    expect(contract).toMatchObject({
      adapter: { name: "dispatcher" },
      capabilities: { cancel: "known", activity: "known" },
      snapshot: { authority: "pull", omissionGrace: 3, reconnect: "replays_in_order" },
      loss: { requires: ["authority_unreachable", "authoritative_omission"] },
      details: { model: "large-1", apiKey: "[redacted]" },
    });
    const wrong = { snapshot: { authority: "oracle" } } as never;
    expect(lifecycle.visibilityContract(wrong).snapshot.authority).toBe("none");
    expect(diagnostics.map(({ path }) => path)).toEqual(["visibility.snapshot.authority"]);
  });

  it("about a child names its place, and rides in its environment", () => {
    const { lifecycle } = writtenLifecycle();
    const child = lifecycle.child({ childId: "p", parent: { childId: "r" } });
    const environment = child.environment({}) as Record<string, string>;
    const below = createLifecycle({ source: "below", exitHooks: false, jsonl: "stderr" }, { environment });
    onTestFinished(async () => {
      await below.shutdown();
    });
    expect(below.inheritedVisibility).toEqual(child.visibilityContract());
    expect(below.inheritedVisibility).toMatchObject({
      source: "unit",
      child: { childId: "p", rootChildId: "r", parentChildId: "r", attempt: 0 },
    });
  });

  it("about an adopted child promises no heartbeats", () => {
    const { lifecycle } = writtenLifecycle();
    const contract = lifecycle.adopt().visibilityContract();
    expect(contract).toMatchObject({ capabilities: { heartbeat: "unknown" }, loss: { requires: [] } });
    expect(contract.events).not.toHaveProperty("heartbeatIntervalMs");
  });

  it("is declared as a note beside the child's evidence", async () => {
    const { lifecycle, events } = writtenLifecycle();
    const child = lifecycle.child();
    child.declareVisibility();
    const [, note] = await events();
    expect(note?.kind).toBe("diagnostic");
    expect(note?.details?.["visibilityContract"]).toEqual(child.visibilityContract());
  });
});

describe("what came from elsewhere", () => {
  const CONTRACT: VisibilityContract = {
    contractVersion: 1,
    source: "unit",
    sourceEpoch: "e",
    adapter: { name: "elsewhere" },
    epochPolicy: "unknown",
    capabilities: {
      activity: "unknown",
      heartbeat: "unknown",
      snapshot: "unknown",
      cancel: "unknown",
      history: "unknown",
      terminalCause: "unknown",
    },
    events: { transport: "otlp", sequence: "unknown", redaction: "unknown" },
    snapshot: { authority: "unknown", reconnect: "unknown" },
    loss: { requires: [] },
  };

  it("is taken when it is a contract, without what no contract has", () => {
    const stated = { ...CONTRACT, nonsense: 1, events: { ...CONTRACT.events, password: "x" } };
    const normalized = normalizeVisibilityContract(stated);
    expect(normalized).toEqual({ ok: true, contract: CONTRACT });
  });

  for (const [path, change] of [
    ["", 7],
    ["contractVersion", { contractVersion: 2 }],
    ["source", { source: "" }],
    ["capabilities.cancel", { capabilities: { ...CONTRACT.capabilities, cancel: "maybe" } }],
    ["loss.requires.0", { loss: { requires: ["a missed heartbeat"] } }],
    ["events", { events: undefined }],
  ] as const) {
    it(`is refused by its path: ${path || "the whole"}`, () => {
      const stated = typeof change === "number" ? change : { ...CONTRACT, ...change };
      expect(normalizeVisibilityContract(stated)).toMatchObject({ ok: false, path });
    });
  }
});
