import { describe, expect, test } from "vitest";
import { GATEWAY_0_19, GATEWAY_0_20_6, GATEWAY_0_21, GATEWAY_BUILDS } from "../../kit/hermes/gateway-build.ts";
import { GatewayError } from "../../kit/hermes/gateway-methods.ts";
import { GatewayOwner } from "../../kit/hermes/gateway-owner.ts";
import { ObservedGateway, SESSION } from "../../kit/hermes/observed-gateway.ts";

const LOST = { state: "lost", stateEvidence: "failed_reconciliation" };

describe("an end in a window without a connection", () => {
  test("is read afterwards where the gateway keeps its frames: once, and on time for nobody to be missed", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6);
    const child = observed.gateway.child(SESSION, "sa-0-a").starts();
    await observed.until("sa-0-a", { state: "running" });
    observed.gateway.drop();
    child.completes("completed");
    await observed.until("sa-0-a", { state: "completed", misses: 0, conflicts: 0 });
    expect(await observed.reported("sa-0-a")).toEqual(["created", "starting", "running", "completed"]);
    expect((await observed.source()).adapter?.connection).toMatchObject({ count: 2, lastEnd: { kind: "lost" } });
  });

  test("cannot be known on a build that keeps none: stale, then lost, and never completed", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_19);
    const child = observed.gateway.child(SESSION, "sa-0-a").starts();
    await observed.until("sa-0-a", { state: "running", stateEvidence: "authoritative_snapshot" });
    observed.gateway.drop();
    child.completes("completed");
    await observed.until("sa-0-a", LOST);
    expect(await observed.reported("sa-0-a")).toEqual([]);
  });

  test("is gone where the gateway kept too few frames: the gap is told, and the rows decide", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6);
    const { gateway } = observed;
    const ended = gateway.child(SESSION, "sa-0-a").starts();
    gateway.child(SESSION, "sa-1-b").starts();
    await observed.until("sa-1-b", { state: "running" });
    gateway.drop();
    ended.completes("completed");
    gateway.evictAll(SESSION);
    await observed.until("sa-0-a", LOST);
    expect(await observed.child("sa-1-b")).toMatchObject({ state: "running", stale: null });
    const codes = (await observed.diagnostics()).map(({ code }) => code);
    expect(codes.filter((code) => code === "sequence_gap")).toHaveLength(1);
  });
});

describe("another run of the gateway", () => {
  test.each(GATEWAY_BUILDS)(
    "%s: its old children are stale, then lost with their cause, and its new ones are others",
    async (_name, build) => {
      const observed = await ObservedGateway.start(build);
      const { gateway } = observed;
      gateway.child(SESSION, "sa-0-old").starts();
      const { sourceEpoch } = await observed.until("sa-0-old", { state: "running" });
      gateway.restart("epoch-2");
      gateway.openSession(SESSION);
      gateway.child(SESSION, "sa-0-new").starts();
      await observed.until("sa-0-old", { state: "running", stale: { reason: "snapshot_omission" } });
      const lost = await observed.until("sa-0-old", LOST);
      expect(lost).toMatchObject({ sourceEpoch, lateEvidence: null, facts: { cause: "omitted_by_authority" } });
      expect(await observed.reported("sa-0-old")).not.toContain("completed");
      expect(await observed.audit("sa-0-old")).toContainEqual(
        expect.objectContaining({ reason: "failed_reconciliation", from: "running", to: "lost" }),
      );
      const fresh = await observed.child("sa-0-new");
      expect(fresh).toMatchObject({ state: "running", stale: null });
      expect(fresh.sourceEpoch).not.toBe(sourceEpoch);
      expect((await observed.source()).adapter?.epoch).toBe(fresh.sourceEpoch);
    },
  );

  test("that never comes is an authority that cannot be reached: stale by silence, then lost", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6, {
      lifecycle: "stale_after: 400ms, reconcile_deadline: 400ms",
    });
    observed.gateway.child(SESSION, "sa-0-a").starts();
    await observed.until("sa-0-a", { state: "running" });
    await observed.server.kill();
    await observed.until("sa-0-a", { state: "running", stale: { reason: "deadline" } });
    await observed.until("sa-0-a", LOST);
    await observed.eventually(async () => {
      const { authority, adapter } = await observed.source();
      expect(authority?.lastFailure).toBe("the gateway is not connected: ECONNREFUSED");
      expect(adapter?.connection).toMatchObject({ state: "disconnected", lastEnd: { kind: "unreachable" } });
    });
  });
});

describe("a gateway behind a login", () => {
  const COOKIE = "hermes_session=93fd0c11a7e24b6f";

  test("is observed with a ticket for each connection, and neither ticket nor cookie is shown anywhere", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6, {
      server: { loginCookie: COOKIE },
      receiver: `login_cookie: "${COOKIE}"`,
    });
    const child = observed.gateway.child(SESSION, "sa-0-a").starts();
    await observed.until("sa-0-a", { state: "running" });
    observed.gateway.drop();
    child.completes("completed");
    await observed.until("sa-0-a", { state: "completed" });
    const tickets = observed.server.upgrades.map((url) => url.searchParams.get("ticket"));
    expect(tickets).toEqual(["ticket-1-4be1c07f", "ticket-2-4be1c07f"]);
    expect(JSON.stringify([await observed.source(), observed.log])).not.toMatch(/4be1c07f|93fd0c11a7e24b6f/);
  });

  test("that gives no ticket is refused, in words, and nothing is concluded", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6, {
      server: { loginCookie: COOKIE },
      receiver: 'login_cookie: "hermes_session=expired"',
    });
    await observed.eventually(async () => {
      const { adapter } = await observed.source();
      expect(adapter?.connection).toMatchObject({
        state: "disconnected",
        lastEnd: { kind: "refused", text: "no ticket: answered 401" },
      });
    });
    expect(observed.server.upgrades).toEqual([]);
  });
});

describe("the stream of somebody else", () => {
  test.each(GATEWAY_BUILDS)("%s: its owner gets the same frames with us as without us", async (_name, build) => {
    const alone = await framesOfOwner(build, "");
    const observed = await framesOfOwner(build, "attach: true, cancel: true");
    expect(observed).toEqual(alone);
    expect(observed.filter((type) => type === "subagent.complete")).toHaveLength(1);
  });

  async function framesOfOwner(build: typeof GATEWAY_0_19, receiver: string): Promise<readonly string[]> {
    const observed = await ObservedGateway.start(build, { receiver });
    if (receiver === "") await observed.stopCollector();
    const owner = await GatewayOwner.connect(observed.server.url);
    const session = await owner.createSession();
    if (receiver !== "") await observed.looks(2);
    const child = observed.gateway.child(session, "sa-0-a").isAskedFor().starts();
    if (receiver !== "") await observed.until("sa-0-a", { state: "running" });
    child.usesTool("web").completes("completed");
    if (receiver !== "") await observed.looks(3);
    await owner.ask("delegation.status");
    return owner.events;
  }

  test("that we joined and that fell silent costs nothing: it is read all the same", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_21, { receiver: "attach: true" });
    await observed.eventually(async () => expect((await observed.source()).adapter?.attachedSessions).toBe(1));
    observed.gateway.isSilent = true;
    observed.gateway.child(SESSION, "sa-0-a").starts().completes("completed");
    await observed.until("sa-0-a", { state: "completed" });
  });
});

describe("a gateway in trouble", () => {
  test.each([
    ["an error", () => refuse(5000)],
    ["no such method", () => refuse(-32601)],
    ["an answer without a list", () => ({ paused: false })],
  ])("%s to who runs is no proof that somebody is gone", async (_name, answer) => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6);
    observed.gateway.child(SESSION, "sa-0-a").starts();
    await observed.until("sa-0-a", { state: "running" });
    observed.gateway.answers.set("delegation.status", answer);
    await observed.looks(5);
    expect(await observed.child("sa-0-a")).toMatchObject({ state: "running", misses: 0, stale: null });
    expect((await observed.source()).adapter?.lastFailure?.text).toContain("delegation.status");
  });

  test.each([4000, 4001, 4007, -32601])("error %i to a stream leaves the rows", async (code) => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6);
    observed.gateway.answers.set("session.events.since", () => refuse(code));
    const child = observed.gateway.child(SESSION, "sa-0-a").starts();
    await observed.until("sa-0-a", { state: "running", stateEvidence: "authoritative_snapshot" });
    child.completes("completed");
    await observed.until("sa-0-a", LOST);
  });

  test("frames that come late hold up a look and conclude nothing", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6, { receiver: "request_timeout: 200ms" });
    const child = observed.gateway.child(SESSION, "sa-0-a").starts();
    await observed.until("sa-0-a", { state: "running" });
    observed.gateway.hold();
    child.completes("completed");
    await observed.eventually(async () =>
      expect((await observed.source()).adapter?.lastFailure?.text).toContain("no answer"),
    );
    expect(await observed.child("sa-0-a")).toMatchObject({ state: "running", misses: 0 });
    observed.gateway.release();
    await observed.until("sa-0-a", { state: "completed", misses: 0 });
  });

  test.each([{ status: 401 }, { status: 403 }, { closeCode: 4401 }])(
    "that does not let us in (%o) is shown, without the credential",
    async (refusal) => {
      const token = "a-token-that-was-changed-59d1";
      const observed = await ObservedGateway.start(GATEWAY_0_20_6, {
        server: { token: "the-right-one", refusal },
        receiver: `token: ${token}`,
      });
      const { connection } = await observed.eventually(async () => {
        const { adapter } = await observed.source();
        expect(adapter?.connection.lastEnd).toMatchObject({ kind: "refused" });
        return adapter ?? expect.fail();
      });
      expect(connection).toMatchObject({ state: "disconnected", since: null, count: 0 });
      const shown = JSON.stringify([await observed.source(), await observed.diagnostics(), observed.log]);
      expect(shown).not.toContain(token);
      expect(observed.server.upgrades.length).toBe(1);
    },
  );

  function refuse(code: number): never {
    throw new GatewayError(code);
  }
});

describe("the collector's own absence", () => {
  test("a suspend of hours makes nobody stale, although the connection is dead at its wake", async () => {
    let asleepMs = 0;
    const clock = { wallNow: () => Date.now() + asleepMs, monotonicNow: () => performance.now() };
    const observed = await ObservedGateway.start(GATEWAY_0_20_6, {
      lifecycle: "stale_after: 2m, reconcile_deadline: 30s",
      seams: { clock },
    });
    const children = Array.from({ length: 40 }, (_, index) =>
      observed.gateway.child(SESSION, `sa-${index}-a`).starts(),
    );
    await observed.until("sa-39-a", { state: "running" });
    asleepMs = 3 * 3_600_000;
    observed.gateway.drop();
    await observed.eventually(async () => expect((await observed.source()).adapter?.connection.count).toBe(2));
    await observed.looks(5);
    for (const child of children) child.usesTool("web");
    await observed.until("sa-39-a", { activity: "web" });
    expect(await observed.get("/api/v1/summary")).toMatchObject({ live: 40, stale: 0, byState: { running: 40 } });
    expect(await observed.get("/api/v1/audit")).toMatchObject({ audit: [] });
  });

  test("after its restart, nobody is running for ever who ended meanwhile", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6);
    const ended = observed.gateway.child(SESSION, "sa-0-a").starts();
    const vanished = observed.gateway.child(SESSION, "sa-1-b").starts();
    observed.gateway.child(SESSION, "sa-2-c").starts();
    await observed.until("sa-2-c", { state: "running" });
    await observed.stopCollector();
    ended.completes("completed");
    vanished.vanishes();
    await observed.startCollector();
    await observed.until("sa-0-a", { state: "completed", conflicts: 0 });
    await observed.until("sa-1-b", LOST);
    expect(await observed.child("sa-2-c")).toMatchObject({ state: "running", stale: null, conflicts: 0 });
  });
});
