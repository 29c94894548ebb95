import { describe, expect, test } from "vitest";
import { GATEWAY_0_19, GATEWAY_0_20_6, GATEWAY_0_21 } from "../../kit/hermes/gateway-build.ts";
import { ADMIN_TOKEN, ObservedGateway, SESSION } from "../../kit/hermes/observed-gateway.ts";

const CANCEL = { receiver: "cancel: true" };

/** A child that runs and was asked to stop. */
async function asked(observed: ObservedGateway) {
  const child = observed.gateway.child(SESSION, "sa-0-a").starts();
  await observed.until("sa-0-a", { state: "running", capabilities: { cancel: "known" } });
  const { status, body } = await observed.cancel("sa-0-a");
  expect([status, body]).toEqual([
    200,
    {
      action: "cancel",
      outcome: "succeeded",
      details: { source: "hermes", childId: "sa-0-a", stateUntilEvidence: "running" },
    },
  ]);
  expect(observed.gateway.interrupted).toEqual(["sa-0-a"]);
  const before = await observed.child("sa-0-a");
  expect(before).toMatchObject({ state: "running", stale: null });
  expect(before.facts.cancelRequestedAt).toMatch(/Z$/);
  return child;
}

describe("L17: a child that was asked to stop", () => {
  test("is cancelled when the gateway says so, and shows when it was asked", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6, CANCEL);
    const child = await asked(observed);
    child.completes("interrupted");
    const { facts } = await observed.until("sa-0-a", { state: "cancelled", stateEvidence: "event" });
    expect(facts).toMatchObject({ cause: "interrupted", cancelRequestedAt: expect.any(String) });
  });

  test("is completed when it completes all the same: the request was not honoured", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6, CANCEL);
    const child = await asked(observed);
    child.completes("completed");
    const { facts } = await observed.until("sa-0-a", { state: "completed" });
    expect(facts.cancelRequestedAt).toBeDefined();
  });

  test("goes on running while nothing is heard, and is lost like any other, never cancelled", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_19, CANCEL);
    const child = await asked(observed);
    await observed.looks(3);
    expect(await observed.child("sa-0-a")).toMatchObject({ state: "running", stale: null });
    child.vanishes();
    const { facts } = await observed.until("sa-0-a", { state: "lost", stateEvidence: "failed_reconciliation" });
    expect(facts.cancelRequestedAt).toBeDefined();
  });

  test("is asked through its session where only attached clients may", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_21, { receiver: "cancel: true, attach: true" });
    await asked(observed);
    expect(observed.gateway.asked("subagent.interrupt")).toEqual([{ session_id: SESSION, subagent_id: "sa-0-a" }]);
  });
});

describe("asking for a child to be stopped", () => {
  test("is written down: who, when, what, and how it ended", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6, CANCEL);
    await asked(observed);
    await observed.cancel("sa-9-nobody");
    const response = await fetch(new URL("/api/v1/admin/actions", observed.collector.apiUrl), {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    const { actions } = (await response.json()) as { readonly actions: readonly object[] };
    expect(actions).toMatchObject([
      { action: "cancel", principal: "operator", outcome: "failed", text: expect.stringContaining("sa-9-nobody") },
      { action: "cancel", principal: "operator", outcome: "succeeded", text: expect.stringContaining("hermes sa-0-a") },
    ]);
  });

  test.each([
    ["nobody knows the child", async () => {}, 404, "no evidence of such a child"],
    [
      "it has ended",
      async (observed: ObservedGateway) => {
        observed.gateway.child(SESSION, "sa-0-a").starts().completes("completed");
        await observed.until("sa-0-a", { state: "completed" });
      },
      409,
      "the child has ended already: completed",
    ],
    [
      "the gateway has no such child any more",
      async (observed: ObservedGateway) => {
        observed.gateway.child(SESSION, "sa-0-a").starts().vanishes();
        await observed.until("sa-0-a", { state: "running" });
      },
      409,
      "the gateway has no such child",
    ],
    [
      "the gateway gives no answer",
      async (observed: ObservedGateway) => {
        observed.gateway.child(SESSION, "sa-0-a").starts();
        await observed.until("sa-0-a", { state: "running" });
        observed.gateway.answers.set("subagent.interrupt", "hang");
      },
      503,
      "no answer to subagent.interrupt within 200 ms",
    ],
    [
      "the gateway is away",
      async (observed: ObservedGateway) => {
        observed.gateway.child(SESSION, "sa-0-a").starts();
        await observed.until("sa-0-a", { state: "running" });
        await observed.server.kill();
        await observed.eventually(async () =>
          expect((await observed.source()).adapter?.connection.state).toBe("disconnected"),
        );
      },
      503,
      "the gateway is not connected",
    ],
  ])("is answered clearly when %s", async (_name, prepare, status, detail) => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6, {
      receiver: "cancel: true, request_timeout: 200ms",
      lifecycle: "stale_after: 1h, reconcile_deadline: 1h",
    });
    await prepare(observed);
    const answer = await observed.cancel("sa-0-a");
    expect([answer.status, answer.body["detail"]]).toEqual([status, detail]);
  });

  test.each([
    ["it is not configured", GATEWAY_0_20_6, "", "cancelling is not configured for this receiver"],
    ["the build wants attached clients", GATEWAY_0_21, "cancel: true", "only clients attached to the child's session"],
  ])("is not offered where %s, and then not done", async (_name, build, receiver, detail) => {
    const observed = await ObservedGateway.start(build, { receiver });
    observed.gateway.child(SESSION, "sa-0-a").starts();
    const { facts, capabilities } = await observed.until("sa-0-a", { state: "running" });
    expect([facts.cancelRequestedAt, capabilities.cancel]).toEqual([undefined, "unknown"]);
    const { status, body } = await observed.cancel("sa-0-a");
    expect(status).toBe(409);
    expect(body["detail"]).toContain(detail);
    expect(observed.gateway.interrupted).toEqual([]);
    expect((await observed.child("sa-0-a")).facts.cancelRequestedAt).toBeUndefined();
  });

  test("needs an administrator who may speak for the source", async () => {
    const observed = await ObservedGateway.start(GATEWAY_0_20_6, CANCEL);
    observed.gateway.child(SESSION, "sa-0-a").starts();
    await observed.until("sa-0-a", { state: "running" });
    expect((await observed.cancel("sa-0-a", "somebody-else")).status).toBe(401);
    expect((await observed.cancel("sa-0-a", `${ADMIN_TOKEN}-elsewhere`)).status).toBe(403);
    expect(observed.gateway.interrupted).toEqual([]);
  });
});
