import { Readable } from "node:stream";
import { createAccessControl, type HttpServer } from "@agent-lifecycle/collector/parts";
import { canonicalEvent, type DiagnosticsPage, type LifecycleSnapshot, RPC_CODES } from "@agent-lifecycle/proto";
import { describe, expect, it, test } from "vitest";
import { makeEvent, makeSnapshot } from "../../kit/events.ts";
import { getJson, startApi, startTestCollector } from "./collector-fixture.ts";
import { otlpBody, outcomeOf, postLogs, startIngest, statusOf } from "./ingest-fixture.ts";
import { keepAliveAgent, rawRequest } from "./raw-http.ts";
import { ScriptedIntake } from "./scripted-intake.ts";

const ACCESS = createAccessControl({
  tokens: [
    { name: "runner", token: "token-of-the-runner", scopes: ["ingest"], sources: ["runner"] },
    { name: "any", token: "token-for-any-source", scopes: ["ingest"] },
    { name: "wall", token: "token-of-the-wall", scopes: ["read"] },
  ],
});
const RUNNER = { authorization: "Bearer token-of-the-runner" };

const ROUTES = [
  ["/v1/logs", "application/json"],
  ["/v1/lifecycle/events", "application/x-ndjson"],
  ["/v1/lifecycle/snapshots", "application/json"],
] as const;

const own = makeEvent({ childId: "own", state: "created", sequence: 1 });
const foreign = makeEvent({ childId: "foreign", source: "somebody-else", state: "created", sequence: 1 });

function post(url: string, contentType: string, body: string, headers: Readonly<Record<string, string>> = RUNNER) {
  return fetch(url, { method: "POST", headers: { "content-type": contentType, ...headers }, body });
}

describe("every way in over HTTP", () => {
  test.each(ROUTES)("%s asks for a token of the scope ingest", async (path, contentType) => {
    const intake = new ScriptedIntake();
    const server = await startIngest(intake, { access: ACCESS });
    for (const authorization of ["", "Bearer wrong", "Bearer token-of-the-runne", "Basic token-of-the-runner"]) {
      const response = await post(server.url() + path, contentType, "{}", { authorization });
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
    }
    const known = await post(server.url() + path, contentType, "{}", { authorization: "Bearer token-of-the-wall" });
    expect(known.status).toBe(403);
    expect(known.headers.get("www-authenticate")).toBe('Bearer error="insufficient_scope", scope="ingest"');
    expect(intake.received).toEqual([]);
    const logs = await postLogs(server, "json", otlpBody("json", [own]), {
      authorization: "bearer token-of-the-runner",
    });
    expect(logs.status).toBe(200);
  });

  test.each(ROUTES)("%s reads no token from the address", async (path, contentType) => {
    const server = await startIngest(new ScriptedIntake(), { access: ACCESS });
    const url = `${server.url()}${path}?access_token=token-of-the-runner&token=token-of-the-runner`;
    expect((await post(url, contentType, "{}", {})).status).toBe(401);
  });

  it("tells an OTLP client in its own language", async () => {
    const server = await startIngest(new ScriptedIntake(), { access: ACCESS });
    const nobody = await postLogs(server, "protobuf", otlpBody("protobuf", [own]));
    expect((await statusOf(nobody, "protobuf"))?.code).toBe(RPC_CODES.unauthenticated);
    const reader = await postLogs(server, "json", otlpBody("json", [own]), {
      authorization: "Bearer token-of-the-wall",
    });
    expect((await statusOf(reader, "json"))?.code).toBe(RPC_CODES.permissionDenied);
  });
});

describe("a token that speaks for some sources", () => {
  async function startGuarded() {
    const collector = await startTestCollector();
    const server = await startApi(collector, { access: ACCESS });
    const diagnostics = async () =>
      (await getJson<DiagnosticsPage>(`${collector.apiUrl}/api/v1/diagnostics?code=source_not_allowed`)).diagnostics;
    return { collector, server, diagnostics };
  }

  it("stores those of OTLP records, refuses the others one by one, and leaves a diagnostic", async () => {
    const { collector, server, diagnostics } = await startGuarded();
    const response = await postLogs(server, "protobuf", otlpBody("protobuf", [foreign, own]), RUNNER);
    const outcome = await outcomeOf(response, "protobuf");
    expect(outcome?.rejectedLogRecords).toBe(1);
    expect(outcome?.errorMessage).toContain("record 0");
    expect(collector.reader.child("runner", "own")).toBeDefined();
    expect(collector.reader.child("somebody-else", "foreign")).toBeUndefined();
    expect(await diagnostics()).toHaveLength(1);
  });

  it("stores those of lines and refuses the others", async () => {
    const { collector, server } = await startGuarded();
    const lines = [foreign, own].map(canonicalEvent).join("\n");
    const response = await post(`${server.url()}/v1/lifecycle/events`, "application/x-ndjson", `${lines}\n`);
    expect(await response.json()).toMatchObject({
      accepted: 1,
      rejected: 1,
      diagnostics: [{ line: 1, code: "source_not_allowed" }],
    });
    expect(collector.reader.child("somebody-else", "foreign")).toBeUndefined();
  });

  const snapshotOf = (source: string): string => {
    const snapshot: LifecycleSnapshot = makeSnapshot({ source, children: [{ childId: "seen" }] });
    return JSON.stringify(snapshot);
  };

  it("is forbidden a snapshot of another source, of which nothing is used", async () => {
    const { collector, server, diagnostics } = await startGuarded();
    const url = `${server.url()}/v1/lifecycle/snapshots`;
    const refused = await post(url, "application/json", snapshotOf("somebody-else"));
    expect(refused.status).toBe(403);
    expect(collector.reader.child("somebody-else", "seen")).toBeUndefined();
    expect(await diagnostics()).toHaveLength(1);
    expect((await post(url, "application/json", snapshotOf("runner"))).status).toBe(200);
    expect(collector.reader.child("runner", "seen")).toBeDefined();
  });

  it("and one for any source is not held up", async () => {
    const { collector, server } = await startGuarded();
    const headers = { authorization: "Bearer token-for-any-source" };
    expect((await postLogs(server, "json", otlpBody("json", [foreign]), headers)).status).toBe(200);
    expect(collector.reader.child("somebody-else", "foreign")).toBeDefined();
  });
});

describe("admission", () => {
  test.each(ROUTES)(
    "%s is asked with the sender's name before anything of the body is read",
    async (path, contentType) => {
      const intake = new ScriptedIntake();
      const asked: string[] = [];
      const server = await startIngest(intake, {
        access: ACCESS,
        admission: {
          refusal: (sender) => {
            asked.push(sender);
            return { kind: "rate_limited", retryAfterSeconds: 2 };
          },
        },
      });
      // A body that never ends: only who does not wait for it can answer.
      const body = new Readable({ read: () => {} });
      body.push("{");
      const headers = { "content-type": contentType, "transfer-encoding": "chunked", ...RUNNER };
      const agent = keepAliveAgent();
      const answer = await rawRequest(server.url() + path, { method: "POST", headers, body, agent });
      expect([answer.statusCode, answer.headers["retry-after"]]).toEqual([429, "2"]);
      expect(asked).toEqual(["runner"]);
      expect(intake.received).toEqual([]);
    },
  );

  it("is not asked for those who may not send at all", async () => {
    const asked: string[] = [];
    const admission = { refusal: (sender: string) => void asked.push(sender) };
    const server = await startIngest(new ScriptedIntake(), { access: ACCESS, admission });
    expect((await postLogs(server, "json", otlpBody("json", [own]))).status).toBe(401);
    expect(asked).toEqual([]);
  });

  it("refuses for the others' sake with 503", async () => {
    const admission = { refusal: () => ({ kind: "overloaded", retryAfterSeconds: 1 }) as const };
    const server: HttpServer = await startIngest(new ScriptedIntake(), { admission });
    expect((await postLogs(server, "json", otlpBody("json", [own]))).status).toBe(503);
  });
});
