import { expect, it } from "vitest";
import { makeEvent } from "../../kit/events.ts";
import { otlpBody, outcomeOf, postLogs, startIngest, statusOf } from "./ingest-fixture.ts";
import { ScriptedIntake } from "./scripted-intake.ts";

const created = makeEvent({ childId: "a", state: "created", sequence: 1 });
const starting = makeEvent({ childId: "a", state: "starting", sequence: 2, at: 1_000 });

it.each([
  ["lists", "["],
  ["objects", '{"a":'],
])("refuses %s nested without end before it parses them (T6)", async (_name, opening) => {
  const server = await startIngest(new ScriptedIntake());
  const response = await postLogs(server, "json", opening.repeat(2_000_000));
  expect(response.status).toBe(400);
  expect((await statusOf(response, "json"))?.message).toContain("levels deep");
});

it("does not take brackets in texts for nesting", async () => {
  const intake = new ScriptedIntake();
  const server = await startIngest(intake);
  const activity = `${'["\\'.repeat(200)}{`;
  const event = makeEvent({ kind: "activity", activity, sequence: 3 });
  expect((await postLogs(server, "json", otlpBody("json", [event]))).status).toBe(200);
  expect(intake.candidates).toMatchObject([{ activity }]);
});

it("refuses bytes that are no UTF-8, since another identity could come of them", async () => {
  const server = await startIngest(new ScriptedIntake());
  const response = await postLogs(server, "json", Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]));
  expect(response.status).toBe(400);
});

it("lets no member reach a prototype, and ignores members it does not know (T6, T7, N5)", async () => {
  const intake = new ScriptedIntake();
  const server = await startIngest(intake);
  const request = JSON.parse(otlpBody("json", [created]).toString()) as Record<string, unknown>;
  const hostile = `{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"new":[{}],${JSON.stringify(request).slice(1)}`;
  expect((await postLogs(server, "json", hostile)).status).toBe(200);
  expect(intake.candidates).toHaveLength(1);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

it("answers in JSON when the type of the request says nothing it knows", async () => {
  const server = await startIngest(new ScriptedIntake());
  for (const contentType of ["text/plain", "application/xml", "nonsense"]) {
    const response = await postLogs(server, "json", "{}", { "content-type": contentType });
    expect(response.status).toBe(415);
    expect(response.headers.get("content-type")).toBe("application/json");
  }
});

it("accepts and counts records of other origin, and numbers refused ones among all (T10)", async () => {
  const intake = new ScriptedIntake();
  const server = await startIngest(intake);
  const request = JSON.parse(otlpBody("json", [created]).toString());
  const { logRecords } = request.resourceLogs[0].scopeLogs[0];
  const broken = structuredClone(logRecords[0]);
  broken.attributes.find(({ key }: { key: string }) => key === "agent_lifecycle.child_id").value = {};
  logRecords.unshift({ body: { stringValue: "hello" } }, { attributes: [] });
  logRecords.push(broken);
  const response = await postLogs(server, "json", JSON.stringify(request));
  const outcome = await outcomeOf(response, "json");
  expect(outcome?.rejectedLogRecords).toBe(1);
  expect(outcome?.errorMessage).toContain("record 3: childId");
  expect(intake.foreign.get("otlp_http")).toBe(2);
});

it("answers how many were refused as a decimal text (T10, H20)", async () => {
  const server = await startIngest(new ScriptedIntake());
  const broken = { ...starting, state: "asleep" } as unknown as typeof starting;
  const response = await postLogs(server, "json", otlpBody("json", [broken]));
  expect(await response.json()).toMatchObject({ partialSuccess: { rejectedLogRecords: "1" } });
});

it("keeps a record whose trace and span ids are none (T9)", async () => {
  const intake = new ScriptedIntake();
  const server = await startIngest(intake);
  const request = JSON.parse(otlpBody("json", [created]).toString());
  Object.assign(request.resourceLogs[0].scopeLogs[0].logRecords[0], { traceId: "zz", spanId: "00" });
  expect((await postLogs(server, "json", JSON.stringify(request))).status).toBe(200);
  expect(intake.candidates).toMatchObject([{ childId: "a" }]);
});

it("counts no foreign record of a request that it refused: it will come again", async () => {
  const intake = new ScriptedIntake();
  intake.refusals.push({ kind: "overloaded", retryAfterSeconds: 1 });
  const server = await startIngest(intake);
  const request = JSON.parse(otlpBody("json", [created]).toString());
  request.resourceLogs[0].scopeLogs[0].logRecords.push({ body: { stringValue: "hello" } });
  expect((await postLogs(server, "json", JSON.stringify(request))).status).toBe(503);
  expect(intake.foreign.size).toBe(0);
});
