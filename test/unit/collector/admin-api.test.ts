import { DatabaseSync } from "node:sqlite";
import {
  type AdminActions,
  AdminAudit,
  type AdminResult,
  createAccessControl,
  createSqliteAdminActions,
  type HttpServer,
} from "@agent-lifecycle/collector/parts";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { startApi, startTestCollector } from "./collector-fixture.ts";

const ACCESS = createAccessControl({
  tokens: [
    { name: "operator", token: "token-of-the-operator", scopes: ["admin"] },
    { name: "wall", token: "token-of-the-wall", scopes: ["read", "ingest"] },
  ],
});
const OPERATOR = { authorization: "Bearer token-of-the-operator" };
const DONE: AdminResult = { ok: true, details: { bytes: 8192 } };

/** Actions that only say that they were called. */
class NotedActions implements AdminActions {
  readonly calls: string[] = [];
  result: () => Promise<AdminResult> = async () => DONE;

  reload = () => this.#note("reload");
  backup = (name: string) => this.#note(`backup ${name}`);
  runRetention = () => this.#note("retention");
  cancel = (source: string, childId: string) => this.#note(`cancel ${source} ${childId}`);

  #note(call: string): Promise<AdminResult> {
    this.calls.push(call);
    return this.result();
  }
}

interface Fixture {
  readonly actions: NotedActions;
  readonly database: DatabaseSync;
  readonly faults: unknown[];
  readonly server: HttpServer;
  post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
  audit(): Promise<readonly Record<string, unknown>[]>;
}

async function startAdmin(access = ACCESS): Promise<Fixture> {
  const database = new DatabaseSync(":memory:");
  onTestFinished(() => void (database.isOpen && database.close()));
  const actions = new NotedActions();
  const clock = { wallNow: () => Date.UTC(2026, 8, 1), monotonicNow: () => 0 };
  const audit = new AdminAudit(createSqliteAdminActions(database, ":memory:"), clock);
  const faults: unknown[] = [];
  const server = await startApi(
    await startTestCollector(),
    { access, onError: (error) => faults.push(error) },
    { admin: { actions, audit } },
  );
  const url = `${server.url()}/api/v1/admin`;
  return {
    actions,
    database,
    faults,
    server,
    post: (path, body = {}, headers = OPERATOR) =>
      fetch(url + path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    audit: async () => {
      const response = await fetch(`${url}/actions`, { headers: OPERATOR });
      expect(response.status).toBe(200);
      return ((await response.json()) as { readonly actions: readonly Record<string, unknown>[] }).actions;
    },
  };
}

describe("an action", () => {
  test.each([
    ["/reload", {}, "reload", "reload", "bytes=8192"],
    ["/backup", { name: "before-upgrade.db" }, "backup before-upgrade.db", "backup", "before-upgrade.db: bytes=8192"],
    ["/retention/run", {}, "retention", "retention", "bytes=8192"],
    [
      "/children/cancel",
      { source: "hermes", childId: "sa-0-a" },
      "cancel hermes sa-0-a",
      "cancel",
      "hermes sa-0-a: bytes=8192",
    ],
  ])(
    "%s runs, and is written down with who, when, from where and how it ended",
    async (path, body, call, action, text) => {
      const { actions, post, audit } = await startAdmin();
      const response = await post(path, body);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ action, outcome: "succeeded", details: { bytes: 8192 } });
      expect(actions.calls).toEqual([call]);
      expect(await audit()).toEqual([
        {
          id: 1,
          at: "2026-09-01T00:00:00.000Z",
          principal: "operator",
          action,
          address: "127.0.0.1",
          outcome: "succeeded",
          text,
        },
      ]);
    },
  );

  test.each([
    ["conflict", 409],
    ["unsupported", 409],
    ["failed", 500],
    ["not_found", 404],
    ["unanswered", 503],
  ] as const)("that does not succeed (%s) is answered %d, and the audit says why", async (reason, status) => {
    const { actions, post, audit } = await startAdmin();
    actions.result = async () => ({ ok: false, reason, text: "there is such a backup already" });
    const response = await post("/backup", { name: "a" });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ detail: "there is such a backup already" });
    expect(await audit()).toMatchObject([{ outcome: "failed", text: "a: there is such a backup already" }]);
  });

  it("that breaks tells its sender nothing of the fault", async () => {
    const { actions, post, audit, faults } = await startAdmin();
    actions.result = () => Promise.reject(new Error("/var/lib/secret-place"));
    const response = await post("/reload");
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("secret-place");
    expect(faults).toHaveLength(1);
    expect(await audit()).toMatchObject([{ outcome: "failed", text: "unexpected fault" }]);
  });

  it("does not run beside another one", async () => {
    const { actions, post } = await startAdmin();
    const { promise, resolve } = Promise.withResolvers<AdminResult>();
    const entered = new Promise<void>((enter) => {
      actions.result = () => {
        enter();
        return promise;
      };
    });
    const running = post("/retention/run");
    await entered;
    expect((await post("/backup", { name: "a" })).status).toBe(409);
    resolve(DONE);
    expect((await running).status).toBe(200);
    expect(actions.calls).toEqual(["retention"]);
  });

  it("that a crash cuts short is seen to have started", async () => {
    const { actions, post, database } = await startAdmin();
    const { promise, resolve } = Promise.withResolvers<AdminResult>();
    const outcomes = new Promise<unknown>((seen) => {
      actions.result = () => {
        seen(database.prepare("SELECT outcome FROM admin_actions").all());
        return promise;
      };
    });
    const running = post("/reload");
    expect(await outcomes).toEqual([{ outcome: "started" }]);
    resolve(DONE);
    await running;
  });

  it("does not run when it cannot be written down", async () => {
    const { actions, post, database, faults } = await startAdmin();
    database.close();
    expect((await post("/reload")).status).toBe(503);
    expect(actions.calls).toEqual([]);
    expect(faults).toHaveLength(1);
  });
});

describe("who has no token of the scope admin", () => {
  test.each([
    ["none", undefined, 401, "unknown"],
    ["a wrong one", "Bearer wrong", 401, "unknown"],
    ["one for reading and sending", "Bearer token-of-the-wall", 403, "wall"],
  ])("(%s) is refused, and the attempt is written down", async (_name, authorization, status, principal) => {
    const { actions, post, audit } = await startAdmin();
    const headers = authorization === undefined ? {} : { authorization };
    expect((await post("/backup", { name: "a" }, headers)).status).toBe(status);
    expect(actions.calls).toEqual([]);
    expect(await audit()).toMatchObject([{ principal, action: "backup", outcome: "refused", text: "" }]);
  });

  it("cannot read the audit either", async () => {
    const { server } = await startAdmin();
    const headers = { authorization: "Bearer token-of-the-wall" };
    expect((await fetch(`${server.url()}/api/v1/admin/actions`, { headers })).status).toBe(403);
    expect((await fetch(`${server.url()}/api/v1/admin/actions`)).status).toBe(401);
  });

  it("gets in nowhere when nobody has one", async () => {
    const { actions, post } = await startAdmin(createAccessControl({ tokens: [] }));
    expect((await post("/reload", {}, {})).status).toBe(401);
    expect(actions.calls).toEqual([]);
  });
});

describe("what is no proper request runs nothing", () => {
  test.each([
    ["a form of another site", "/reload", "", { "content-type": "application/x-www-form-urlencoded" }, 415],
    ["plain text", "/reload", "{}", { "content-type": "text/plain" }, 415],
    ["a page of another site", "/reload", {}, { "sec-fetch-site": "cross-site" }, 403],
    ["a page of another port", "/reload", {}, { "sec-fetch-site": "same-site" }, 403],
    ["a page of another origin", "/reload", {}, { origin: "https://evil.test" }, 403],
    ["a file of this machine", "/reload", {}, { origin: "null" }, 403],
    ["broken JSON", "/reload", "{", {}, 400],
    ["a list", "/reload", [], {}, 400],
    ["members that nobody asked for", "/reload", { force: true }, {}, 400],
    ["a backup without a name", "/backup", {}, {}, 400],
    ["a path for a backup", "/backup", { name: "../../etc/passwd" }, {}, 400],
    ["an absolute path for a backup", "/backup", { name: "/tmp/a" }, {}, 400],
    ["a hidden file for a backup", "/backup", { name: ".bashrc" }, {}, 400],
    ["a name with a zero byte", "/backup", { name: "a\0b" }, {}, 400],
    ["an endless name", "/backup", { name: "a".repeat(129) }, {}, 400],
    ["a name that is none", "/backup", { name: { toString: "a" } }, {}, 400],
    ["a body without end", "/backup", { name: "a".repeat(20_000) }, {}, 413],
    ["an action that there is not", "/shutdown", {}, {}, 404],
  ])("%s", async (_name, path, body, headers, status) => {
    const { actions, post } = await startAdmin();
    expect((await post(path, body, { ...OPERATOR, ...headers })).status).toBe(status);
    expect(actions.calls).toEqual([]);
  });

  test.each(["GET", "PUT", "DELETE"])("%s", async (method) => {
    const { server, actions } = await startAdmin();
    const response = await fetch(`${server.url()}/api/v1/admin/reload`, { method, headers: OPERATOR });
    expect(response.status).toBe(405);
    expect(actions.calls).toEqual([]);
  });

  it("and the board's own origin is none of these", async () => {
    const { server, post } = await startAdmin();
    const headers = { ...OPERATOR, origin: server.url(), "sec-fetch-site": "same-origin" };
    expect((await post("/reload", {}, headers)).status).toBe(200);
  });
});

it("lists the audit in pages, the newest first", async () => {
  const { server, post } = await startAdmin();
  for (const name of ["a", "b", "c"]) await post("/backup", { name });
  const read = async (query: string) => {
    const response = await fetch(`${server.url()}/api/v1/admin/actions?${query}`, { headers: OPERATOR });
    return (await response.json()) as { actions: { text: string }[]; nextCursor: string | null };
  };
  const first = await read("limit=2");
  expect(first.actions.map(({ text }) => text[0])).toEqual(["c", "b"]);
  const second = await read(`limit=2&cursor=${first.nextCursor}`);
  expect([second.actions.map(({ text }) => text[0]), second.nextCursor]).toEqual([["a"], null]);
});

it("is not there where nobody wired it", async () => {
  const server = await startApi(await startTestCollector(), { access: ACCESS });
  const response = await fetch(`${server.url()}/api/v1/admin/reload`, { method: "POST", headers: OPERATOR });
  expect([401, 403, 404]).toContain(response.status);
});
