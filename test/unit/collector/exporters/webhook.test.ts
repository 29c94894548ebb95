import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { makeEvent } from "../../../kit/events.ts";
import { type HttpDestination, startHttpDestination } from "../../../kit/http-destination.ts";
import { START_MS } from "../../../kit/start-time.ts";
import { startExporting } from "./exporting-collector.ts";

const secret = "a-secret-of-enough-characters";

interface Told {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly data: { readonly message: string };
}

function told({ requests }: HttpDestination): readonly Told[] {
  return requests.map(({ body }) => JSON.parse(body.toString()) as Told);
}

function settings({ url }: HttpDestination) {
  return { url: `${url}/hook`, secret, initialBackoffMs: 1, maxBackoffMs: 20 } as const;
}

test("only what is wanted is told, one event a request, as CloudEvents", async () => {
  const destination = await startHttpDestination();
  const collector = await startExporting({ webhook: settings(destination) });
  await collector.store(
    makeEvent({ state: "created", sequence: 1 }),
    makeEvent({ state: "starting", sequence: 2, at: 1 }),
    makeEvent({ state: "waiting", sequence: 3, at: 2, details: { waitingOn: { kind: "permission" } } }),
    makeEvent({ state: "failed", sequence: 4, at: 3, details: { cause: "no_permission" } }),
  );
  await destination.until(() => destination.requests.length === 2);
  expect(destination.requests[0]).toMatchObject({
    path: "/hook",
    headers: { "content-type": "application/cloudevents+json" },
  });
  expect(told(destination)).toMatchObject([
    {
      specversion: "1.0",
      source: "/agent-lifecycle/sources/runner",
      type: "agent_lifecycle.child.waiting",
      subject: "child-1",
      data: {
        message: "child-1 is waiting for permission",
        attributes: { "agent_lifecycle.waiting_on": "permission" },
      },
    },
    { type: "agent_lifecycle.child.failed", data: { attributes: { "error.type": "no_permission" } } },
  ]);
});

test("every request is signed over its id, its time and its body", async () => {
  const destination = await startHttpDestination();
  const collector = await startExporting({
    webhook: { ...settings(destination), occasions: ["completed", "cancelled"] },
  });
  await collector.store(
    makeEvent({ state: "created", sequence: 1 }),
    makeEvent({ state: "cancelled", sequence: 2, at: 1 }),
  );
  await destination.until(() => destination.requests.length === 1);
  const [request] = destination.requests;
  const [event] = told(destination);
  const seconds = START_MS / 1_000;
  const signed = createHmac("sha256", secret).update(`${event?.id}.${seconds}.${request?.body}`).digest("base64");
  expect(request?.headers).toMatchObject({
    "webhook-id": event?.id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": `v1,${signed}`,
  });
});

test("what was not taken comes again with its id, and in order", async () => {
  const destination = await startHttpDestination();
  destination.answer = () => ({ code: destination.requests.length < 3 ? 503 : 204 });
  const collector = await startExporting({ webhook: { ...settings(destination), occasions: ["cancelled"] } });
  await collector.store(
    makeEvent({ childId: "a", state: "created", sequence: 1 }),
    makeEvent({ childId: "a", state: "cancelled", sequence: 2, at: 1 }),
    makeEvent({ childId: "b", state: "created", sequence: 1 }),
    makeEvent({ childId: "b", state: "cancelled", sequence: 2, at: 1 }),
  );
  await destination.until(() => destination.requests.length === 5);
  expect(told(destination).map(({ subject }) => subject)).toEqual(["a", "a", "a", "a", "b"]);
  expect(new Set(told(destination).map(({ id }) => id)).size).toBe(2);
});

test("one that is refused for good stands in nobody's way", async () => {
  const destination = await startHttpDestination();
  destination.answer = ({ body }) => ({ code: body.includes('"subject":"a"') ? 400 : 204 });
  const collector = await startExporting({ webhook: { ...settings(destination), occasions: ["cancelled"] } });
  for (const childId of ["a", "b"]) {
    await collector.store(
      makeEvent({ childId, state: "created", sequence: 1 }),
      makeEvent({ childId, state: "cancelled", sequence: 2, at: 1 }),
    );
  }
  await destination.until(() => told(destination).at(-1)?.subject === "b");
  expect(collector.setAside("webhook")).toHaveLength(1);
});
