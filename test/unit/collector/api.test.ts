import type {
  AuditPage,
  ChildrenPage,
  ChildView,
  DiagnosticsPage,
  InputsPage,
  SourcesView,
  SummaryView,
} from "@agent-lifecycle/proto";
import { canonicalEvent } from "@agent-lifecycle/proto";
import { describe, expect, it } from "vitest";
import { makeEvent, makeSnapshot } from "../../kit/events.ts";
import { getJson, NOW, startTestCollector, store } from "./collector-fixture.ts";
import { family } from "./family.ts";
import { otlpBody } from "./ingest-fixture.ts";
import { rawRequest } from "./raw-http.ts";

const origin = { receiver: "test", backfill: false, bytes: 0 };

describe("before any evidence", () => {
  it("says that none was seen (D2)", async () => {
    const { apiUrl } = await startTestCollector();
    const summary = await getJson<SummaryView>(`${apiUrl}/api/v1/summary`);
    expect(summary).toMatchObject({ started: 0, evidenceSeen: false, at: NOW });
    expect(await getJson<ChildrenPage>(`${apiUrl}/api/v1/children`)).toMatchObject({ children: [], nextCursor: null });
    expect(await getJson<SourcesView>(`${apiUrl}/api/v1/sources`)).toEqual({ sources: [] });
  });

  it("has seen some as soon as one heartbeat came, and has no row for it (P12)", async () => {
    const collector = await startTestCollector();
    await store(collector, [makeEvent({ childId: "a", kind: "heartbeat", sequence: 1 })]);
    const summary = await getJson<SummaryView>(`${collector.apiUrl}/api/v1/summary`);
    expect(summary).toMatchObject({ started: 0, stateUnknown: 1, evidenceSeen: true });
    expect((await getJson<ChildrenPage>(`${collector.apiUrl}/api/v1/children`)).children).toEqual([]);
  });
});

describe("children", () => {
  it.each([
    ["", ["other", "gap", "done", "leaf", "root"]],
    ["?state=running", ["root"]],
    ["?state=running,cancelled", ["done", "root"]],
    ["?source=else", ["other"]],
    ["?root=root", ["leaf", "root"]],
    ["?provisional=true", ["gap"]],
    ["?provisional=false&source=runner", ["done", "leaf", "root"]],
    ["?stale=true", []],
    ["?text=RELEASE", ["root"]],
    ["?text=compil", ["gap"]],
    ["?text=%25", []],
  ])("are listed newest first and filtered by %j", async (query, expected) => {
    const collector = await startTestCollector();
    await store(collector, family());
    const { children } = await getJson<ChildrenPage>(`${collector.apiUrl}/api/v1/children${query}`);
    expect(children.map(({ childId }) => childId)).toEqual(expected);
  });

  it("come page by page, each once, also while new ones arrive", async () => {
    const collector = await startTestCollector();
    const make = (number: number) => makeEvent({ childId: `child ${number}`, state: "created", sequence: 1 });
    await store(
      collector,
      Array.from({ length: 7 }, (_, index) => make(index)),
    );
    const seen: string[] = [];
    let cursor: string | null = "";
    for (let page = 0; cursor !== null; page += 1) {
      const suffix: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const { children, nextCursor }: ChildrenPage = await getJson(
        `${collector.apiUrl}/api/v1/children?limit=3${suffix}`,
      );
      expect(children.length).toBeLessThanOrEqual(3);
      seen.push(...children.map(({ childId }) => childId));
      await store(collector, [make(100 + page)]);
      cursor = nextCursor;
    }
    expect(seen).toEqual(["child 6", "child 5", "child 4", "child 3", "child 2", "child 1", "child 0"]);
  });

  it("are found by any identifier the contract allows", async () => {
    const collector = await startTestCollector();
    const identifiers = ["a/b", "..", "%2F", "a?b#c", "ä".repeat(256), "💥".repeat(256), "constructor", "a b"];
    for (const childId of identifiers) {
      await store(collector, [makeEvent({ childId, eventId: "1", state: "created", sequence: 1, source: childId })]);
      const part = encodeURIComponent(childId).replaceAll(".", "%2E");
      const answer = await rawRequest(collector.apiUrl, { path: `/api/v1/children/${part}/${part}` });
      expect([answer.statusCode, JSON.parse(answer.body).childId]).toEqual([200, childId]);
    }
  });

  it("show their view, their inputs and what was corrected", async () => {
    const collector = await startTestCollector();
    await store(collector, family());
    const snapshot = makeSnapshot({ at: 10, coverage: ["leaf"], children: [{ childId: "leaf", state: "running" }] });
    await collector.intake.acceptSnapshot(snapshot, origin);
    const child = `${collector.apiUrl}/api/v1/children/runner/leaf`;
    expect(await getJson<ChildView>(child)).toMatchObject({ childId: "leaf", state: "running", corrections: 1 });
    const { audit } = await getJson<AuditPage>(`${child}/audit`);
    expect(audit).toMatchObject([{ from: "created", to: "running", reason: "authoritative_snapshot", at: NOW }]);
    const { inputs } = await getJson<InputsPage>(`${collector.apiUrl}/api/v1/children/runner/root/events`);
    expect(inputs.map(({ event, status, at }) => [event?.state, status, at])).toEqual([
      ["created", "applied", NOW],
      ["starting", "applied", NOW],
      ["running", "applied", NOW],
    ]);
    const first = await getJson<InputsPage>(`${collector.apiUrl}/api/v1/children/runner/root/events?limit=2`);
    expect(first.inputs).toHaveLength(2);
    const rest = `${collector.apiUrl}/api/v1/children/runner/root/events?limit=2&cursor=${first.nextCursor}`;
    expect(await getJson<InputsPage>(rest)).toMatchObject({
      inputs: [{ event: { state: "running" } }],
      nextCursor: null,
    });
  });

  it("that nobody reported are not there", async () => {
    const { apiUrl } = await startTestCollector();
    for (const path of ["", "/events", "/audit"]) {
      const response = await fetch(`${apiUrl}/api/v1/children/runner/nobody${path}`);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ title: "Not found", status: 404 });
    }
  });
});

describe("what was objected to and corrected", () => {
  it("comes page by page, the newest objection first", async () => {
    const collector = await startTestCollector();
    await collector.intake.acceptEvents([{}, { schemaVersion: 1 }, { schemaVersion: 2 }], origin);
    const url = `${collector.apiUrl}/api/v1/diagnostics`;
    const all = await getJson<DiagnosticsPage>(`${url}?code=invalid_event`);
    expect(all.diagnostics).toHaveLength(3);
    expect(all.diagnostics[0]).toMatchObject({
      code: "invalid_event",
      path: expect.any(String),
      receiver: "test",
      at: NOW,
    });
    const first = await getJson<DiagnosticsPage>(`${url}?limit=2`);
    const second = await getJson<DiagnosticsPage>(`${url}?limit=2&cursor=${first.nextCursor}`);
    expect([...first.diagnostics, ...second.diagnostics]).toEqual(all.diagnostics);
    expect(second.nextCursor).toBeNull();
    expect((await getJson<DiagnosticsPage>(`${url}?code=identity_conflict`)).diagnostics).toEqual([]);
  });

  it("never splits what one input corrected between two pages", async () => {
    const collector = await startTestCollector();
    const snapshot = (number: number, children: number) =>
      makeSnapshot({
        at: number,
        coverage: "all",
        snapshotId: `${number}`,
        children: Array.from({ length: children }, (_, index) => ({ childId: `${number}/${index}` })),
      });
    await collector.intake.acceptSnapshot(snapshot(1, 2), origin);
    await collector.intake.acceptSnapshot(snapshot(2, 5), origin);
    await collector.intake.acceptSnapshot(snapshot(3, 1), origin);
    const pages: string[][] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const suffix: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const page: AuditPage = await getJson(`${collector.apiUrl}/api/v1/audit?limit=3${suffix}`);
      pages.push(page.audit.map(({ childId }) => childId));
      cursor = page.nextCursor;
    }
    expect(pages).toEqual([["1/0", "1/1"], ["2/0", "2/1", "2/2", "2/3", "2/4"], ["3/0"]]);
  });
});

it("answers the same request twice with no change (T13)", async () => {
  const collector = await startTestCollector();
  const send = () =>
    fetch(`${collector.ingestUrl}/v1/logs`, {
      method: "POST",
      headers: { "content-type": "application/x-protobuf" },
      body: otlpBody("protobuf", family()),
    });
  const answers = [await send()];
  const before = await getJson<ChildrenPage>(`${collector.apiUrl}/api/v1/children`);
  answers.push(await send());
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect((await getJson<ChildrenPage>(`${collector.apiUrl}/api/v1/children`)).children).toEqual(before.children);
});

it("takes evidence on the API's port too", async () => {
  const collector = await startTestCollector();
  const response = await fetch(`${collector.apiUrl}/v1/lifecycle/events`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson" },
    body: family().map(canonicalEvent).join("\n"),
  });
  expect(await response.json()).toMatchObject({ accepted: 10, rejected: 0 });
  const summary = await getJson<SummaryView>(`${collector.apiUrl}/api/v1/summary`);
  const { completed, failed, cancelled, lost } = summary.byState;
  expect(summary.started).toBe(5);
  expect(summary.live + completed + failed + cancelled + lost).toBe(summary.started);
});
