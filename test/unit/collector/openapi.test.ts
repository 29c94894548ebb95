import { readFile } from "node:fs/promises";
import type { Collector } from "@agent-lifecycle/collector";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { makeEvent, makeSnapshot } from "../../kit/events.ts";
import { getJson, startTestCollector, store } from "./collector-fixture.ts";
import { family } from "./family.ts";

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: object }>> }>>;
}

interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: object;
}

async function documentOf({ apiUrl }: Collector): Promise<OpenApi> {
  return getJson<OpenApi>(`${apiUrl}/api/openapi.json`);
}

/** Everything that a collector can show: each kind of objection, correction and child. */
async function tellOfEverything(collector: Collector): Promise<void> {
  const origin = { receiver: "test", backfill: false, bytes: 0 };
  await store(collector, family());
  await store(collector, [
    makeEvent({ childId: "done", state: "running", sequence: 3, at: 7 }),
    makeEvent({
      childId: "busy",
      state: "waiting",
      sequence: 4,
      capabilities: { cancel: "known" },
      lineage: { external: true, adoptedAt: "2026-09-01T09:00:00.000Z" },
      details: {
        agentType: "reviewer",
        routingProfile: "UNPROFILED",
        waitingOn: { kind: "permission", text: "may I?" },
        usage: { inputTokens: 1, outputTokens: 2, costUsd: 0.25, toolCalls: 3 },
        cancelRequestedAt: "2026-09-01T09:00:00.000Z",
        pid: 4,
        more: { of: ["its", "own"] },
      },
    }),
  ]);
  await collector.intake.acceptEvents([{}, { schemaVersion: 2 }], origin);
  const snapshot = makeSnapshot({
    at: 10,
    coverage: ["leaf", "found"],
    children: [{ childId: "leaf", state: "running" }, { childId: "found" }],
  });
  await collector.intake.acceptSnapshot(snapshot, origin);
}

const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  "/api/v1/summary": [""],
  "/api/v1/children": ["", "?limit=2", "?state=waiting", "?text=nobody"],
  "/api/v1/children/{source}/{childId}": ["runner/busy", "runner/done", "runner/found", "runner/nameless"],
  "/api/v1/children/{source}/{childId}/events": ["runner/busy/events", "runner/done/events", "runner/leaf/events"],
  "/api/v1/children/{source}/{childId}/audit": ["runner/leaf/audit", "runner/found/audit"],
  "/api/v1/tree/{rootChildId}": ["root", "busy", "found"],
  "/api/v1/timeline": ["", "?root=root"],
  "/api/v1/sources": [""],
  "/api/v1/audit": ["", "?limit=1"],
  "/api/v1/diagnostics": ["", "?code=invalid_event"],
};

describe("the OpenAPI document", () => {
  it("is a valid one, and names every operation once", async () => {
    const document = await documentOf(await startTestCollector());
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(await new Validator().validate({ ...structuredClone(document) })).toMatchObject({ valid: true });
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const names = operations.map(({ operationId }) => operationId);
    expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
    expect(
      operations.filter(({ responses }) => responses["4XX"]?.content?.["application/problem+json"] === undefined),
    ).toEqual([]);
  });

  it("has every route of the read API", async () => {
    const { paths } = await documentOf(await startTestCollector());
    expect(Object.keys(paths).toSorted()).toEqual([...Object.keys(ADDRESSES), "/api/v1/stream"].toSorted());
  });

  it("has the paths that docs/api.md lists, and no other", async () => {
    const { paths } = await documentOf(await startTestCollector());
    const page = await readFile(new URL("../../../docs/api.md", import.meta.url), "utf8");
    const listed = [...page.matchAll(/^\| `(\/api\/[^`]+)`/gm)].map(([, path]) => path);
    expect(listed.toSorted()).toEqual(Object.keys(paths).toSorted());
  });

  it("holds for what the routes answer, member by member", async () => {
    const collector = await startTestCollector();
    await tellOfEverything(collector);
    const { paths, components } = await documentOf(collector);
    const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
    ajv.addSchema({ $id: "document", components });
    for (const [path, suffixes] of Object.entries(ADDRESSES)) {
      const schema = paths[path]?.["get"]?.responses["200"]?.content?.["application/json"]?.schema ?? {};
      const here = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as object;
      const validate = ajv.compile(here);
      for (const suffix of suffixes) {
        const address = path.replace(/\{.*/, "") + suffix;
        expect([address, validate(await getJson(collector.apiUrl + address)), validate.errors]).toEqual([
          address,
          true,
          null,
        ]);
      }
    }
  });

  it("needs no token, since it tells of no child", async () => {
    const { apiUrl } = await startTestCollector({
      access: { tokens: [{ name: "reader", token: "correct-horse", scopes: ["read"] }] },
    });
    expect((await fetch(`${apiUrl}/api/openapi.json`)).status).toBe(200);
    expect((await fetch(`${apiUrl}/api/v1/tree/root`)).status).toBe(401);
    expect((await fetch(`${apiUrl}/api/v1/timeline`)).status).toBe(401);
  });
});

describe("an answer that did not change", () => {
  it("is not sent again to who shows its ETag, and is when it did", async () => {
    const collector = await startTestCollector();
    await store(collector, family());
    const address = `${collector.apiUrl}/api/v1/children?source=runner`;
    const first = await fetch(address);
    const headers = { "if-none-match": first.headers.get("etag") ?? "" };
    expect(headers["if-none-match"]).not.toBe("");
    const second = await fetch(address, { headers });
    expect([second.status, await second.text()]).toEqual([304, ""]);
    await store(collector, [
      makeEvent({
        childId: "leaf",
        state: "starting",
        sequence: 2,
        at: 9,
        lineage: { rootChildId: "root", parentChildId: "root" },
      }),
    ]);
    expect((await fetch(address, { headers })).status).toBe(200);
  });
});
