import { ApiError, type Connection, follow, LifecycleClient } from "@agent-lifecycle/collector/client";
import type { ChildView } from "@agent-lifecycle/proto";
import { describe, expect, it, onTestFinished } from "vitest";
import { closedPort } from "../../kit/closed-port.ts";
import { makeEvent } from "../../kit/events.ts";
import { startApi, startTestCollector, store } from "./collector-fixture.ts";
import { family } from "./family.ts";

describe("the client", () => {
  it("reads every route, with any identifier that the contract allows", async () => {
    const collector = await startTestCollector();
    const names = ["a/b", "a.b", "%2F", "a?b#c", "ä b"];
    await store(collector, family());
    await store(
      collector,
      names.map((childId) => makeEvent({ childId, source: childId, state: "created", sequence: 0 })),
    );
    const client = new LifecycleClient({ url: collector.apiUrl });
    expect(await client.summary()).toMatchObject({ started: 10 });
    expect((await client.listChildren({ states: ["running"], rootChildId: "root" })).children).toHaveLength(1);
    for (const name of names) {
      const child = { source: name, childId: name };
      expect(await client.getChild(child)).toMatchObject(child);
      expect((await client.listChildEvents(child)).inputs).toHaveLength(1);
      expect((await client.listChildAudit(child)).audit).toEqual([]);
      expect((await client.tree(name, { source: name })).members).toBe(1);
    }
    expect((await client.timeline({ limit: 3 })).timeline).toHaveLength(3);
    expect((await client.sources()).sources).toHaveLength(7);
    expect((await client.listAudit()).audit).toEqual([]);
    expect((await client.listDiagnostics({ code: "invalid_event" })).diagnostics).toEqual([]);
    expect(await client.openApi()).toMatchObject({ openapi: "3.1.0" });
    const pages: number[] = [];
    for await (const { children } of client.allChildren({ limit: 4 })) pages.push(children.length);
    expect(pages).toEqual([4, 4, 2]);
  });

  it("throws what the collector refused with, and shows its token", async () => {
    const { apiUrl } = await startTestCollector({
      access: { tokens: [{ name: "reader", token: "correct-horse", scopes: ["read"] }] },
    });
    const refused = await new LifecycleClient({ url: apiUrl }).summary().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ApiError);
    expect(refused).toMatchObject({ status: 401, problem: { status: 401, title: "A bearer token is required" } });
    expect(await new LifecycleClient({ url: apiUrl, token: () => "correct-horse" }).summary()).toMatchObject({
      live: 0,
    });
    const nobody = new LifecycleClient({ url: apiUrl, token: "correct-horse" });
    expect(await nobody.getChild({ source: "a", childId: "b" }).catch((error: unknown) => error)).toMatchObject({
      status: 404,
    });
  });
});

/** Follows a collector and keeps what it is told, as a display does. */
function display(url: string) {
  const rows = new Map<string, ChildView>();
  const connections: Connection["kind"][] = [];
  const watchers = new Set<() => void>();
  const stopped = new AbortController();
  onTestFinished(() => stopped.abort());
  const told = (): void => {
    for (const watcher of watchers) watcher();
  };
  let listings = 0;
  const take = (children: readonly ChildView[]): void => {
    for (const child of children) rows.set(child.childId, child);
    told();
  };
  const ended = follow(
    new LifecycleClient({ url }),
    {
      onConnection: ({ kind }) => {
        if (connections.at(-1) !== kind) connections.push(kind);
        told();
      },
      onListed: (children) => {
        listings += 1;
        rows.clear();
        take(children);
      },
      onChanged: take,
    },
    { signal: stopped.signal, firstPauseMs: 1, longestPauseMs: 5 },
  );
  const until = (isSo: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!isSo()) return;
        watchers.delete(look);
        resolve();
      };
      watchers.add(look);
      look();
    });
  return { rows, connections, until, ended, listings: () => listings };
}

describe("following", () => {
  it("resumes after an interruption where it was, without listing again (L05)", async () => {
    const collector = await startTestCollector();
    await store(collector, family());
    const port = await closedPort();
    const first = await startApi(collector, { port });
    const { rows, connections, until, listings } = display(first.url());
    await until(() => connections.at(-1) === "live");
    await first.shutdown();
    await until(() => connections.at(-1) === "interrupted");
    await store(collector, [makeEvent({ childId: "root", state: "completed", sequence: 4, at: 9 })]);
    await startApi(collector, { port });
    await until(() => rows.get("root")?.state === "completed");
    expect(connections).toEqual(["connecting", "live", "interrupted", "live"]);
    expect(listings()).toBe(1);
  });

  it("lists again when it comes back to another log, and forgets what that one does not know", async () => {
    const port = await closedPort();
    const before = await startTestCollector();
    await store(before, family());
    const first = await startApi(before, { port });
    const { rows, connections, until, listings } = display(first.url());
    await until(() => connections.at(-1) === "live");
    await first.shutdown();
    const after = await startTestCollector();
    await store(after, [makeEvent({ childId: "only", state: "created", sequence: 0 })]);
    await startApi(after, { port });
    await until(() => rows.has("only"));
    expect([...rows.keys()]).toEqual(["only"]);
    expect(listings()).toBe(2);
  });

  it("ends when a token is wanted", async () => {
    const { apiUrl } = await startTestCollector({
      access: { tokens: [{ name: "reader", token: "correct-horse", scopes: ["read"] }] },
    });
    const { connections, ended } = display(apiUrl);
    await ended;
    expect(connections).toEqual(["connecting", "refused"]);
  });
});
