import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { GATEWAY_0_20_6 } from "../../kit/hermes/gateway-build.ts";
import { GatewayError } from "../../kit/hermes/gateway-methods.ts";
import { ObservedGateway, SESSION } from "../../kit/hermes/observed-gateway.ts";

const TOKEN = "session-token-3f9a71c2d8e4";
const KEY = "sk-proj-0123456789abcdefghijABCDEFGHIJ";

test("neither the gateway's token nor a secret that it repeats is stored, logged or shown", async () => {
  const observed = await ObservedGateway.start(GATEWAY_0_20_6, {
    server: { token: TOKEN },
    receiver: `cancel: true, token: ${TOKEN}`,
  });
  const { gateway } = observed;
  const child = gateway.child(SESSION, "sa-0-a", { goal: `deploy with OPENAI_API_KEY=${KEY}`, model: KEY }).starts();
  child.usesTool(`curl -H "Authorization: Bearer ${KEY}"`);
  await observed.until("sa-0-a", { state: "running" });
  gateway.answers.set("subagent.interrupt", () => {
    throw new GatewayError(4001, `refused for token=${TOKEN} and ${KEY}`);
  });
  expect((await observed.cancel("sa-0-a")).status).toBe(409);
  gateway.answers.set("delegation.status", () => {
    throw new GatewayError(5000, `no status for ${KEY}`);
  });
  await observed.looks(2);
  gateway.answers.clear();
  gateway.push({ type: "subagent.tool", session_id: SESSION, payload: { tool_name: KEY } });
  gateway.sendText(`no frame: ${KEY}`);
  child.completes(`password=${KEY}`);
  await observed.until("sa-0-a", { state: "failed" });
  const shown: unknown[] = [observed.log];
  for (const path of ["children", "children/hermes/sa-0-a/events", "sources", "diagnostics", "audit", "summary"]) {
    shown.push(await observed.get(`/api/v1/${path}`));
  }
  await observed.stopCollector();
  const stored = filesBelow(dirname(observed.database)).map((file) => readFileSync(file, "latin1"));
  expect(stored.length).toBeGreaterThan(1);
  for (const text of [...shown.map((value) => JSON.stringify(value)), ...stored]) {
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain(KEY);
  }
});

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}
