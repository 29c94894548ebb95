import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { rowOf } from "../../../kit/hermes/frames.ts";
import { GATEWAY_0_19 } from "../../../kit/hermes/gateway-build.ts";
import { GatewayDouble } from "../../../kit/hermes/gateway-double.ts";
import { type GatewayServer, type GatewayServerOptions, serveGateway } from "../../../kit/hermes/gateway-server.ts";
import { receive } from "./real-receiver.ts";

const TOKEN = "session-token-1234567890";
/** A gateway of an old build with one child, behind a real socket. */
function listen(options: GatewayServerOptions = {}): Promise<GatewayServer> {
  const gateway = new GatewayDouble(GATEWAY_0_19);
  gateway.rows = [rowOf("sa-0-a")];
  return serveGateway(gateway, options);
}

describe("a WebSocket", () => {
  test("carries the token in its address, and shows it nowhere", async () => {
    const gateway = await listen();
    const { receiver, intake, logged } = await receive({ kind: "websocket", url: gateway.url, token: TOKEN });
    await vi.waitFor(() => expect(intake.states).toEqual({ "sa-0-a": "running" }));
    expect(gateway.upgrades.map((url) => url.searchParams.get("token"))).toEqual([TOKEN]);
    expect(JSON.stringify([receiver.status, logged])).not.toContain(TOKEN);
    expect(receiver.status.gateway).toBe(gateway.url);
  });

  test("takes the token from a file, as it is at each connection", async () => {
    const folder = await mkdtemp(join(tmpdir(), "hermes-token-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const tokenFile = join(folder, "token");
    await writeFile(tokenFile, `${TOKEN}\n`);
    const gateway = await listen();
    await receive({ kind: "websocket", url: gateway.url, tokenFile });
    await vi.waitFor(() => expect(gateway.peers).toHaveLength(1));
    await writeFile(tokenFile, "another-token");
    gateway.peers[0]?.terminate();
    await vi.waitFor(() => expect(gateway.upgrades).toHaveLength(2), { timeout: 5_000 });
    expect(gateway.upgrades.map((url) => url.searchParams.get("token"))).toEqual([TOKEN, "another-token"]);
  });

  test.each([
    ["no such file", undefined, "cannot be used: ENOENT"],
    ["an empty one", " \n", "must hold one line"],
  ])("with %s as its token's, no connection is tried", async (_name, content, reason) => {
    const folder = await mkdtemp(join(tmpdir(), "hermes-token-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const tokenFile = join(folder, "token");
    if (content !== undefined) await writeFile(tokenFile, content);
    const gateway = await listen();
    const { receiver } = await receive({ kind: "websocket", url: gateway.url, tokenFile });
    await vi.waitFor(() => expect(receiver.status.lastEnd).toMatchObject({ kind: "refused" }));
    expect(receiver.status.lastEnd?.text).toContain(reason);
    expect(gateway.upgrades).toEqual([]);
  });

  test("is told apart: refused by the gateway, or nobody there", async () => {
    const gateway = await listen({ token: "another-token" });
    const refused = await receive({ kind: "websocket", url: gateway.url, token: TOKEN });
    await vi.waitFor(() => expect(refused.receiver.status.lastEnd).toMatchObject({ kind: "refused" }));
    expect(refused.logged).toMatchObject([{ kind: "refused", gateway: gateway.url }]);
    expect(JSON.stringify(refused.logged)).not.toContain(TOKEN);

    gateway.server.close();
    const absent = await receive({ kind: "websocket", url: gateway.url.replace(/:\d+/, ":1"), token: TOKEN });
    await vi.waitFor(() =>
      expect(absent.receiver.status.lastEnd).toMatchObject({ kind: "unreachable", text: "ECONNREFUSED" }),
    );
  });

  test.each([4401, 4403, 1008])("that is closed with %i is a refusal", async (code) => {
    const gateway = await listen({ onMessage: (peer) => peer.close(code, `no: token=${TOKEN}`) });
    const { receiver, logged } = await receive({ kind: "websocket", url: gateway.url, token: TOKEN });
    await vi.waitFor(() => expect(receiver.status.lastEnd).toMatchObject({ kind: "refused" }));
    expect(JSON.stringify([receiver.status, logged])).not.toContain(TOKEN);
  });

  test("holds no frame larger than allowed", async () => {
    const gateway = await listen({
      onMessage: (peer) => peer.send(JSON.stringify({ id: 1, result: "x".repeat(100_000) })),
    });
    const { receiver } = await receive({ kind: "websocket", url: gateway.url }, { maxFrameBytes: 10_000 });
    await vi.waitFor(() => expect(receiver.status.lastEnd).toMatchObject({ kind: "oversize" }));
  });

  test("that stopped answering is let go of at once", async () => {
    const gateway = await listen({ onMessage: (peer) => peer.pause() });
    const { receiver } = await receive(
      { kind: "websocket", url: gateway.url },
      { silenceTimeoutMs: 150, requestTimeoutMs: 60_000 },
    );
    await vi.waitFor(() => expect(receiver.status.lastEnd).toMatchObject({ kind: "unresponsive" }));
    await receiver.shutdown();
  });

  test("that hangs in its handshake is ended by a shutdown", async () => {
    const silent = createServer();
    silent.on("upgrade", () => {});
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    onTestFinished(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const address = silent.address();
    if (typeof address !== "object" || address === null) throw new Error("no port");
    const { receiver } = await receive({ kind: "websocket", url: `ws://127.0.0.1:${address.port}/api/ws` });
    await once(silent, "connection");
    await receiver.shutdown();
    expect(receiver.status.state).toBe("stopped");
  });
});

describe("a gateway behind a login", () => {
  test("is entered with a ticket for each connection, got with the cookie", async () => {
    const cookies: (string | undefined)[] = [];
    const gateway = await listen({
      onHttp: ({ method, url, headers }) => {
        cookies.push(`${method} ${url} ${headers.cookie}`);
        return { status: 200, body: JSON.stringify({ ticket: `ticket-${cookies.length}`, ttl_seconds: 30 }) };
      },
    });
    const { logged, receiver } = await receive({
      kind: "websocket",
      url: gateway.url,
      loginCookie: "session=abcdef123",
    });
    await vi.waitFor(() => expect(gateway.peers).toHaveLength(1));
    gateway.peers[0]?.terminate();
    await vi.waitFor(() => expect(gateway.upgrades).toHaveLength(2), { timeout: 5_000 });
    expect(gateway.upgrades.map((url) => url.search)).toEqual(["?ticket=ticket-1", "?ticket=ticket-2"]);
    expect(cookies[0]).toBe("POST /api/auth/ws-ticket session=abcdef123");
    expect(JSON.stringify([receiver.status, logged])).not.toMatch(/ticket-\d|abcdef123/);
  });

  test("a cookie that no header can carry is never repeated", async () => {
    const gateway = await listen({});
    const loginCookie = "session=hunter2\nhunter3";
    const { logged, receiver } = await receive({ kind: "websocket", url: gateway.url, loginCookie });
    await vi.waitFor(() => expect(receiver.status.lastEnd).toMatchObject({ kind: "unreachable" }));
    expect(JSON.stringify([receiver.status, receiver.view(), logged])).not.toContain("hunter");
  });

  test.each<[string, { status: number; body: string; location?: string }, string]>([
    ["an expired cookie", { status: 401, body: "" }, "refused"],
    ["a redirect to the login", { status: 302, body: "", location: "http://127.0.0.1:1/login" }, "refused"],
    ["no ticket in the answer", { status: 200, body: "{}" }, "refused"],
    ["no JSON", { status: 200, body: "<html>" }, "refused"],
    ["an endless answer", { status: 200, body: "x".repeat(100_000) }, "unreachable"],
    ["a broken gateway", { status: 502, body: "" }, "unreachable"],
  ])("%s lets nobody in", async (_name, reply, kind) => {
    const gateway = await listen({ onHttp: () => reply });
    const { receiver } = await receive({ kind: "websocket", url: gateway.url, loginCookie: "session=abcdef123" });
    await vi.waitFor(() => expect(receiver.status.lastEnd).toMatchObject({ kind }));
    expect(gateway.upgrades).toEqual([]);
  });
});
