import { createAccessControl } from "@agent-lifecycle/collector/parts";
import { canonicalEvent } from "@agent-lifecycle/proto";
import { describe, expect, it } from "vitest";
import { makeEvent } from "../../kit/events.ts";
import { startApi, startTestCollector, store } from "./collector-fixture.ts";
import { EventStreamClient } from "./event-stream-client.ts";
import { family } from "./family.ts";
import { rawRequest } from "./raw-http.ts";

describe("requests that make no sense", () => {
  it.each([
    ["GET", "/api/v1/children?state=asleep", 400],
    ["GET", "/api/v1/children?stat=running", 400],
    ["GET", "/api/v1/children?limit=0", 400],
    ["GET", "/api/v1/children?limit=1001", 400],
    ["GET", "/api/v1/children?cursor=-1", 400],
    ["GET", "/api/v1/children?stale=perhaps", 400],
    ["GET", "/api/v1/children?state=running&state=lost", 400],
    ["GET", `/api/v1/children?text=${"a".repeat(201)}`, 400],
    ["GET", "/api/v1/diagnostics?code=nonsense", 400],
    ["GET", "/api/v1/stream?after=-1", 400],
    ["GET", "/api/v1/nothing", 404],
    ["GET", "/nothing", 404],
    ["GET", "/../package.json", 404],
    ["GET", "/%2e%2e/package.json", 404],
    ["GET", "/%zz", 400],
    ["POST", "/api/v1/children", 405],
    ["DELETE", "/api/v1/children/a/b", 405],
    ["POST", "/", 405],
    ["PUT", "/metrics", 405],
    ["HEAD", "/api/v1/stream", 405],
  ])("%s %s is answered by a problem document (%d)", async (method, path, statusCode) => {
    const { apiUrl } = await startTestCollector();
    const { hostname, port } = new URL(apiUrl);
    const answer = await rawRequest(`http://${hostname}:${port}`, { method, path });
    expect(answer.statusCode).toBe(statusCode);
    expect(answer.headers["content-type"]).toBe("application/problem+json");
    expect(answer.headers["x-content-type-options"]).toBe("nosniff");
    expect(answer.headers["content-security-policy"]).toContain("default-src 'none'");
    if (statusCode === 405) expect(answer.headers.allow).toContain("GET");
    if (method !== "HEAD") expect(JSON.parse(answer.body)).toMatchObject({ status: statusCode });
  });
});

describe("who may read", () => {
  it("needs the read token for data, and none for the board's files and for health", async () => {
    const { apiUrl } = await startTestCollector({
      access: { tokens: [{ name: "reader", token: "correct-horse", scopes: ["read"] }] },
    });
    const status = async (path: string, authorization?: string) =>
      (await fetch(apiUrl + path, { headers: authorization === undefined ? {} : { authorization } })).status;
    for (const path of ["/api/v1/children", "/api/v1/summary", "/api/v1/stream", "/metrics", "/api/v1/nothing"]) {
      expect([path, await status(path)]).toEqual([path, 401]);
      expect([path, await status(path, "Bearer wrong")]).toEqual([path, 401]);
    }
    expect(await status("/api/v1/children", "Bearer correct-horse")).toBe(200);
    expect(await status("/metrics", "Bearer correct-horse")).toBe(200);
    for (const path of ["/", "/board.svg", "/healthz", "/readyz"]) expect(await status(path)).toBe(200);
  });

  it("ends a live stream once its token is taken away, and no other one", async () => {
    const collector = await startTestCollector();
    const stolen = { name: "stolen", token: "a-token-that-was-stolen", scopes: ["read"] } as const;
    const kept = { name: "kept", token: "a-token-that-is-kept-on", scopes: ["read"] } as const;
    const access = createAccessControl({ tokens: [stolen, kept] });
    const server = await startApi(collector, { access, heartbeatMs: 5 });
    const open = ({ token }: { readonly token: string }) =>
      EventStreamClient.open(server.url(), "", { authorization: `Bearer ${token}` });
    const [ended, going] = [await open(stolen), await open(kept)];
    await Promise.all([ended, going].map((client) => client.until(() => client.events.length === 1)));
    access.replace({ tokens: [kept] });
    await ended.until(() => ended.closed);
    await store(collector, [makeEvent({ childId: "a", state: "created", sequence: 1 })]);
    await going.until(() => going.children.size === 1);
  });

  it("sends security headers with everything", async () => {
    const { apiUrl } = await startTestCollector();
    for (const path of ["/", "/api/v1/summary", "/nothing"]) {
      const { headers } = await fetch(apiUrl + path);
      expect(headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  it("answers only for its own host names", async () => {
    const { apiUrl } = await startTestCollector();
    expect((await rawRequest(apiUrl, { path: "/api/v1/children", headers: { host: "evil.example" } })).statusCode).toBe(
      403,
    );
  });
});

describe("health", () => {
  it("is up while the process is, and ready only while it can store", async () => {
    const collector = await startTestCollector();
    const server = await startApi(collector, {}, { readiness: () => ({ ready: false, reason: "the disk is full" }) });
    expect((await fetch(`${server.url()}/healthz`)).status).toBe(200);
    const response = await fetch(`${server.url()}/readyz`);
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ ready: false, reason: "the disk is full" });
    expect((await fetch(`${collector.apiUrl}/readyz`)).status).toBe(200);
  });
});

describe("metrics", () => {
  it.each([
    ["text/plain", "text/plain; version=0.0.4; charset=utf-8"],
    ["application/openmetrics-text; version=1.0.0", "application/openmetrics-text; version=1.0.0; charset=utf-8"],
  ])("for %s count children, events and requests, and name no child", async (accept, contentType) => {
    const collector = await startTestCollector();
    const body = [...family().map(canonicalEvent), "broken"].join("\n");
    const headers = { "content-type": "application/x-ndjson" };
    await fetch(`${collector.apiUrl}/v1/lifecycle/events`, { method: "POST", headers, body });
    await fetch(`${collector.apiUrl}/v1/logs`, {
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: "x",
    });
    const response = await fetch(`${collector.apiUrl}/metrics`, { headers: { accept } });
    expect(response.headers.get("content-type")).toBe(contentType);
    const text = await response.text();
    expect(text).toContain('agent_lifecycle_children{state="created"} 3\n');
    expect(text).toContain('agent_lifecycle_children{state="running"} 1\n');
    expect(text).toContain("agent_lifecycle_children_provisional 1\n");
    expect(text).toContain("agent_lifecycle_children_state_unknown 1\n");
    expect(text).toContain('agent_lifecycle_events_total{receiver="jsonl_http",status="applied"} 8\n');
    expect(text).toContain('agent_lifecycle_diagnostics_total{code="truncated"} 1\n');
    expect(text).toContain('otelcol_receiver_requests_total{receiver="jsonl_http",outcome="accepted"} 1\n');
    expect(text).toContain('otelcol_receiver_requests_total{receiver="otlp_http",outcome="rejected"} 1\n');
    expect(text).toMatch(/agent_lifecycle_input_log_position 1[01]\n/);
    expect(text).toMatch(/agent_lifecycle_commit_duration_seconds_count [1-9]/);
    // Sources are labels, of which there are few; children are none, of which there is no end.
    const labelValues = new Set([...text.matchAll(/="([^"]*)"/g)].map(([, value]) => value));
    expect(labelValues).toContain("runner");
    expect(family().filter(({ childId }) => labelValues.has(childId))).toEqual([]);
    expect(text).not.toMatch(/leaf|nameless/);
    expect(text.endsWith("# EOF\n")).toBe(accept.includes("openmetrics"));
  });
});

it("serves the board, revalidated by its content, and no other file", async () => {
  const { apiUrl } = await startTestCollector();
  const page = await fetch(apiUrl);
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  const html = await page.text();
  const etag = page.headers.get("etag") ?? "";
  expect((await fetch(apiUrl, { headers: { "if-none-match": etag } })).status).toBe(304);
  expect(html).not.toMatch(/https?:\/\//);
  for (const [, path] of html.matchAll(/(?:href|src)="(\/[^"]+)"/g))
    expect((await fetch(apiUrl + path)).status).toBe(200);
});
