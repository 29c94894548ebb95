import { request } from "node:http";
import { connect } from "node:net";
import { type LifecycleSnapshot, normalizeSnapshot } from "@agent-lifecycle/proto";
import { type SnapshotOptions, type SnapshotService, serveSnapshots } from "@agent-lifecycle/sdk/snapshots";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { type WrittenLifecycle, writtenLifecycle } from "./lifecycle-fixture.ts";

const TOKEN = "a-token-of-the-collector-9f31";

interface Served extends WrittenLifecycle {
  readonly service: SnapshotService;
  snapshot(): LifecycleSnapshot;
}

function served(options: SnapshotOptions = {}): Served {
  const written = writtenLifecycle();
  const service = serveSnapshots(written.lifecycle, options);
  onTestFinished(() => service.close());
  return { ...written, service, snapshot: () => saidBy(service) };
}

function saidBy(service: SnapshotService): LifecycleSnapshot {
  const snapshot = service.snapshot();
  if (snapshot === undefined) throw new Error("nothing is told");
  return snapshot;
}

const states = ({ children }: LifecycleSnapshot) =>
  Object.fromEntries(children.map(({ childId, state }) => [childId, state]));

describe("a snapshot says of the children of a lifecycle", () => {
  it("what their events say, with the sequence of the newest, and is one that a collector takes", async () => {
    const { lifecycle, snapshot, clock } = served();
    const parent = lifecycle.child({ childId: "parent", details: { name: "planner", model: "large-1", other: "x" } });
    parent.starting();
    parent.running();
    parent.activity("reading 12 pages");
    await clock.advance(5);
    const child = lifecycle.child({ childId: "child", parent });
    child.starting();
    child.failed("out of memory");
    const told = snapshot();
    expect(told).toMatchObject({
      source: "unit",
      sourceEpoch: "epoch-1",
      complete: true,
      observedAt: new Date(clock.now()).toISOString(),
    });
    expect(told.children).toEqual([
      {
        childId: "child",
        state: "failed",
        sequence: 3,
        lineage: child.lineage,
        capabilities: expect.objectContaining({ heartbeat: "known" }),
      },
      {
        childId: "parent",
        state: "running",
        sequence: 4,
        activity: "reading 12 pages",
        lineage: parent.lineage,
        capabilities: expect.objectContaining({ heartbeat: "known" }),
        details: { name: "planner", model: "large-1" },
      },
    ]);
    const normalized = normalizeSnapshot(JSON.parse(JSON.stringify(told)));
    expect(normalized).toEqual({ ok: true, snapshot: told, diagnostics: [] });
  });

  it("nothing that a secret could be read from", () => {
    const { lifecycle, snapshot } = served();
    const child = lifecycle.child({ details: { name: "uses sk-ant-REDACTED" } });
    child.activity("API_TOKEN=hunter2-hunter2-hunter2");
    expect(JSON.stringify(snapshot())).not.toMatch(/hunter2|AbCdEf/);
  });

  it("the attempt that lives, and the one before it as it ended", () => {
    const { lifecycle, snapshot } = served();
    const first = lifecycle.child({ childId: "first" });
    first.starting();
    first.failed();
    first.retry({ childId: "second" });
    expect(states(snapshot())).toEqual({ first: "failed", second: "created" });
  });
});

describe("an answer claims no more than is known", () => {
  it("nobody is complete for nobody", () => {
    expect(served().snapshot()).toMatchObject({ complete: false, coverage: "all", children: [] });
  });

  it("it covers those it lists, and by itself nobody else", () => {
    const { lifecycle, snapshot } = served();
    lifecycle.child({ childId: "a" });
    lifecycle.child({ childId: "b" }).cancelled();
    expect(snapshot()).toMatchObject({ complete: true, coverage: ["b", "a"] });
  });

  it("it covers all where the host says that nobody else reports, also when there is nobody", async () => {
    const { lifecycle, snapshot, clock } = served({ coverage: "all" });
    expect(snapshot()).toMatchObject({ complete: true, coverage: "all", children: [] });
    lifecycle.child({ childId: "a" });
    await clock.advance(1);
    expect(snapshot()).toMatchObject({ complete: true, coverage: "all" });
  });

  it("it covers all no longer once an ended child was forgotten", () => {
    const { lifecycle, snapshot } = served({ coverage: "all", maxEndedChildren: 2 });
    for (const childId of ["a", "b", "c"]) lifecycle.child({ childId }).cancelled();
    expect(snapshot()).toMatchObject({ complete: true, coverage: ["b", "c"] });
  });

  it("it covers all no longer once there were more children than are kept, and goes on with those it has", () => {
    const { lifecycle, snapshot } = served({ coverage: "all", maxChildren: 2 });
    lifecycle.child({ childId: "ended" }).cancelled();
    for (const childId of ["a", "b", "c"]) lifecycle.child({ childId });
    expect(snapshot()).toMatchObject({ complete: true, coverage: ["a", "b"] });
  });

  it("it says nothing of children that began before, until their next state, and never covers all", () => {
    const { lifecycle } = writtenLifecycle();
    const early = lifecycle.child({ childId: "early" });
    const service = serveSnapshots(lifecycle, { coverage: "all" });
    lifecycle.child({ childId: "late" });
    early.activity("working");
    expect(saidBy(service)).toMatchObject({ coverage: ["late"] });
    early.starting();
    expect(saidBy(service)).toMatchObject({ coverage: ["late", "early"] });
    expect(saidBy(service).children[1]).toMatchObject({ state: "starting", sequence: 3 });
  });

  it("it does not vouch for the life of an adopted child without heartbeats, but knows how it ended", () => {
    const { lifecycle, snapshot } = served({ coverage: "all" });
    lifecycle.child({ childId: "beating", external: true, automaticHeartbeats: true });
    const silent = lifecycle.child({ childId: "silent", external: true, observedState: "running" });
    expect(snapshot()).toMatchObject({ complete: true, coverage: ["beating"] });
    silent.completed();
    expect(snapshot()).toMatchObject({ coverage: "all" });
    expect(states(snapshot())).toEqual({ silent: "completed", beating: "created" });
  });

  it("it says nothing more of a child that was released", () => {
    const { lifecycle, service, snapshot } = served({ coverage: "all" });
    lifecycle.child({ childId: "a" });
    lifecycle.child({ childId: "handed-over" });
    service.release("handed-over");
    service.release("nobody");
    expect(snapshot()).toMatchObject({ complete: true, coverage: ["a"] });
  });

  it("it is given no longer after the lifecycle's shutdown: what children do then is heard by nobody", async () => {
    const { lifecycle, service } = served();
    const child = lifecycle.child();
    const shutdown = lifecycle.shutdown();
    child.cancelled();
    expect(service.snapshot()).toBeUndefined();
    await shutdown;
  });
});

describe("a look", () => {
  it("is the same for a second while nothing changes, and a new statement after it", async () => {
    const { lifecycle, snapshot, clock } = served();
    const child = lifecycle.child();
    const first = snapshot();
    await clock.advance(999);
    expect(snapshot()).toBe(first);
    await clock.advance(1);
    const second = snapshot();
    expect(second).toMatchObject({ children: first.children });
    expect(second.snapshotId).not.toBe(first.snapshotId);
    expect(Date.parse(second.observedAt) - Date.parse(first.observedAt)).toBe(1_000);
    child.starting();
    expect(snapshot().children[0]?.state).toBe("starting");
  });
});

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

function ask(
  url: string,
  method = "GET",
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

async function urlOf({ service }: Served): Promise<string> {
  const url = await service.url;
  if (url === undefined) throw new Error("nothing listens");
  return url;
}

const bearer = { authorization: `Bearer ${TOKEN}` };

describe("the own server", () => {
  it("answers whoever shows the token, on loopback", async () => {
    const host = served({ token: TOKEN, port: 0 });
    host.lifecycle.child({ childId: "a" });
    const url = await urlOf(host);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/lifecycle\/snapshot$/);
    const answer = await ask(url, "GET", bearer);
    expect(answer).toMatchObject({
      status: 200,
      headers: { "content-type": "application/json", "cache-control": "no-store" },
    });
    expect(JSON.parse(answer.body)).toEqual(host.snapshot());
    const head = await ask(url, "HEAD", bearer);
    expect(head).toMatchObject({ status: 200, body: "", headers: { etag: answer.headers["etag"] } });
  });

  it("answers 304 while the entity tag is right, and the whole again when it is not", async () => {
    const host = served({ token: TOKEN, port: 0 });
    const child = host.lifecycle.child();
    const url = await urlOf(host);
    const { headers } = await ask(url, "GET", bearer);
    const conditional = { ...bearer, "if-none-match": `"other", ${String(headers["etag"])}` };
    expect(await ask(url, "GET", conditional)).toMatchObject({ status: 304, body: "" });
    child.starting();
    const changed = await ask(url, "GET", conditional);
    expect(changed.status).toBe(200);
    expect(changed.headers["etag"]).not.toBe(headers["etag"]);
  });

  it.each<[number, string, string, Record<string, string>]>([
    [401, "GET", "", {}],
    [401, "GET", "", { authorization: "Bearer wrong" }],
    [401, "GET", "", { authorization: TOKEN }],
    [401, "GET", "", { authorization: `Bearer ${TOKEN}x` }],
    [401, "POST", "", {}],
    [405, "POST", "", bearer],
    [405, "DELETE", "", bearer],
    [404, "GET", "/more", bearer],
    [200, "GET", "?a=b", bearer],
  ])("answers %i to %s …%s", async (status, method, suffix, headers) => {
    const host = served({ token: TOKEN, port: 0 });
    host.lifecycle.child();
    const answer = await ask(
      (await urlOf(host)) + suffix,
      method,
      headers,
      method === "POST" ? "x".repeat(100_000) : undefined,
    );
    expect(answer.status).toBe(status);
    if (status === 401) expect(answer.headers["www-authenticate"]).toBe("Bearer");
    if (status !== 200) expect(answer.body).toBe("");
  });

  it("is gone with the lifecycle, and cuts whoever holds a connection", async () => {
    const host = served({ token: TOKEN, port: 0 });
    const { hostname, port } = new URL(await urlOf(host));
    const socket = connect(Number(port), hostname);
    const closed = new Promise((resolve) => socket.on("close", resolve).on("error", () => {}));
    await new Promise((resolve) => socket.once("connect", resolve));
    await host.lifecycle.shutdown();
    await closed;
    await expect(ask(await urlOf(host), "GET", bearer)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("answers 503 by the handler once nothing is told any more", async () => {
    const host = served({ token: TOKEN });
    const { createServer } = await import("node:http");
    const server = createServer(host.service.handler).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { readonly port: number };
    const url = `http://127.0.0.1:${port}/any`;
    expect((await ask(url, "GET", bearer)).status).toBe(200);
    await host.service.close();
    expect(await ask(url, "GET", bearer)).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
  });

  it("that is closed before it listens has no address, and says so", async () => {
    const host = served({ token: TOKEN, port: 0 });
    await host.service.close();
    expect(await host.service.url).toBeUndefined();
    expect(host.diagnostics).toEqual([]);
  });

  it("whose port is taken is a diagnostic, and the handler answers all the same", async () => {
    const first = served({ token: TOKEN, port: 0 });
    const port = Number(new URL(await urlOf(first)).port);
    const second = served({ token: TOKEN, port });
    expect(await second.service.url).toBeUndefined();
    expect(second.diagnostics).toMatchObject([
      { code: "internal_error", message: expect.stringContaining("EADDRINUSE") },
    ]);
    expect(second.snapshot().children).toEqual([]);
  });
});

describe("an option that cannot be used", () => {
  test.each<[string, unknown, boolean]>([
    ["token", { token: "short" }, false],
    ["token", { token: 7 }, false],
    ["token", { token: `with space ${"x".repeat(20)}` }, false],
    ["token", { port: 0 }, true],
    ["host", { token: TOKEN, port: 0, host: "0.0.0.0" }, true],
    ["host", { token: TOKEN, port: 0, host: "example.org" }, true],
    ["port", { token: TOKEN, port: "0" }, true],
    ["path", { token: TOKEN, port: 0, path: "snapshot" }, true],
    ["coverage", { coverage: "everything" }, true],
    ["maxChildren", { maxChildren: 0 }, true],
    ["maxEndedChildren", { maxEndedChildren: -1 }, true],
    ["options", 7, true],
  ])("(%s) is told and nothing is thrown: %j", async (path, options, isAnswered) => {
    const { service, diagnostics } = served(options as SnapshotOptions);
    expect(diagnostics).toMatchObject([{ code: "invalid_configuration", path }]);
    expect(await service.url).toBeUndefined();
    expect(service.snapshot() !== undefined).toBe(isAnswered);
  });

  it("is told when it throws as it is read, and when the lifecycle is none", async () => {
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error("no");
        },
      },
    );
    const { service, diagnostics } = served(hostile as SnapshotOptions);
    expect(diagnostics).toMatchObject([{ code: "internal_error" }]);
    expect(service.snapshot()).toBeUndefined();
    const inert = serveSnapshots({} as never, { token: TOKEN, port: 0 });
    expect([inert.snapshot(), await inert.url]).toEqual([undefined, undefined]);
    await inert.close();
  });
});
