import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ChildrenPage, ChildView, InputsPage, SourcesView } from "@agent-lifecycle/proto";
import { expect, test, vi } from "vitest";
import { closedPort } from "../../kit/closed-port.ts";
import { startCollector } from "../../kit/collector-process.ts";
import { temporaryDirectory } from "../../kit/event-file.ts";
import { GATEWAY_0_19, GATEWAY_0_21, GATEWAY_BUILDS } from "../../kit/hermes/gateway-build.ts";
import { GatewayDouble } from "../../kit/hermes/gateway-double.ts";
import { serveGateway } from "../../kit/hermes/gateway-server.ts";
import { fixture, runCommand } from "../../kit/program.ts";

const TOKEN = "the-token-of-the-gateway-91";

/** A file with these receivers, and a token in a file beside it. */
function configurationFile(receivers: string): string {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, "token"), `${TOKEN}\n`, { mode: 0o600 });
  const file = join(folder, "collector.yaml");
  writeFileSync(file, `receivers: { ${receivers} }\napi: { endpoint: "127.0.0.1:0" }\nstorage: { path: c.db }\n`);
  return file;
}

async function doctorOnGateways(receivers: string): Promise<readonly string[]> {
  const { stdout } = await runCommand(["doctor", "--json", "--config", configurationFile(receivers)]);
  expect(stdout.toString()).not.toContain(TOKEN);
  const { findings } = JSON.parse(stdout.toString()) as {
    readonly findings: readonly { readonly check: string; readonly level: string; readonly text: string }[];
  };
  return findings.filter(({ check }) => check === "gateway").map(({ level, text }) => `${level} ${text}`);
}

test.each(GATEWAY_BUILDS)("doctor tells that a gateway answers and what it offers: %s", async (_name, build) => {
  const gateway = new GatewayDouble(build);
  gateway.openSession("s1");
  gateway.child("s1", "sa-0-a").starts();
  const { url } = await serveGateway(gateway, { token: TOKEN });
  const [finding, ...others] = await doctorOnGateways(`hermes/main: { url: "${url}", token_file: token }`);
  expect(others).toEqual([]);
  expect(finding).toContain(`ok hermes/main at ${url} answers: 1 child runs; what happened can`);
  expect(finding).toContain(build.replay ? "known of its children: history, snapshot, terminalCause" : "is not known");
  const asked = new Set(gateway.requests.map(({ method }) => method));
  expect([...asked].sort()).toEqual(["delegation.status", "session.events.since"]);
});

test("a collector starts a gateway of its own, tells what its children did, and leaves nothing of it behind", async () => {
  const program = fixture("hermes-gateway.ts");
  const file = configurationFile(
    `hermes/own: { poll_interval: 20ms, stdio: { command: ["${process.execPath}", "${program}"],
       environment: { GATEWAY_MODE: children } } }`,
  );
  const collector = await startCollector(join(dirname(file), "collector.db"), ["--config", file]);
  const states = await vi.waitFor(
    async () => {
      const { children } = await collector.get<ChildrenPage>("/api/v1/children");
      const ended = children.filter(({ terminalEvidence }) => terminalEvidence === "event");
      expect(ended).toHaveLength(2);
      return ended.map(({ childId, state, facts }) => [childId, state, facts.cause]);
    },
    { timeout: 20_000 },
  );
  expect(states.sort()).toEqual([
    ["sa-0-ä", "failed", "timeout"],
    ["sa-1-b", "completed", undefined],
  ]);
  const { sources } = await collector.get<SourcesView>("/api/v1/sources");
  expect(sources).toMatchObject([{ source: "hermes", adapter: { address: "stdio", connection: { count: 1 } } }]);
  const gateways = childrenOf(collector.pid);
  expect(gateways).toHaveLength(1);
  expect((await collector.endBy("SIGTERM")).exitCode).toBe(0);
  for (const pid of gateways) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});

test("a collector that is killed reads on where it was: nothing twice, and nobody runs for ever", async () => {
  const gateway = new GatewayDouble(GATEWAY_0_21);
  gateway.openSession("s1");
  const { url } = await serveGateway(gateway);
  const file = configurationFile(`hermes/main: { url: "${url}", poll_interval: 20ms }`);
  const database = join(dirname(file), "collector.db");
  const child = gateway.child("s1", "sa-0-a").isAskedFor().starts().usesTool("web");
  const killed = await startCollector(database, ["--config", file]);
  // Stored, and noted as read.
  await vi.waitFor(
    () => expect(readFileSync(`${database}.receivers/hermes%2Fmain.json`, "utf8")).toContain('"lastSeen":3'),
    { timeout: 20_000 },
  );
  await killed.endBy("SIGKILL");
  child.completes("completed");
  const collector = await startCollector(database, ["--config", file]);
  const ended = await vi.waitFor(
    async () => {
      const view = await collector.get<ChildView>("/api/v1/children/hermes/sa-0-a");
      expect(view.state).toBe("completed");
      return view;
    },
    { timeout: 20_000 },
  );
  expect(ended).toMatchObject({ conflicts: 0, corrections: 0, lateEvidence: null, history: "complete" });
  const { inputs } = await collector.get<InputsPage>("/api/v1/children/hermes/sa-0-a/events");
  const reported = inputs.flatMap(({ event }) => event?.state ?? event?.activity ?? []);
  expect(reported).toEqual(["created", "starting", "running", "web", "completed"]);
  await collector.endBy("SIGTERM");
});

/** The processes that a process has started and that live. */
function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number);
}

test("doctor tells a refusal from an absence, and of a credential in the clear", async () => {
  const { url } = await serveGateway(new GatewayDouble(GATEWAY_0_21), { token: "another" });
  const absent = `ws://127.0.0.1:${await closedPort()}/api/ws`;
  const found = await doctorOnGateways(
    `hermes/refused: { url: "${url}", token_file: token }, hermes/absent: { url: "${absent}", source: absent },
     hermes/far: { url: "ws://gateway.invalid/api/ws", source: far, token_file: token }, hermes/own: { stdio: , source: own }`,
  );
  expect(found).toEqual([
    `problem hermes/refused at ${url} does not let us in: the gateway answered 403 to the upgrade: check the credentials and the host`,
    `warning hermes/absent at ${absent} does not answer: ECONNREFUSED`,
    expect.stringContaining("warning hermes/far at ws://gateway.invalid/api/ws does not answer"),
    expect.stringContaining("warning the credential of hermes/far travels to gateway.invalid in the clear"),
    "ok hermes/own is started with the collector: python",
  ]);
});

test("config check says where a gateway's credential is missing, and config print shows none", async () => {
  const { url } = await serveGateway(new GatewayDouble(GATEWAY_0_19));
  const missing = configurationFile(`hermes/main: { url: "${url}", token_file: nowhere }`);
  const checked = await runCommand(["config", "check", "--config", missing]);
  expect(checked.exitCode).toBe(1);
  expect(checked.stdout.toString()).toMatch(/receivers\.hermes\/main\.token_file: cannot read .*nowhere \(ENOENT\)/);
  const secret = configurationFile(`hermes/main: { url: "${url}", token: ${TOKEN} }`);
  const printed = await runCommand(["config", "print", "--config", secret]);
  expect(printed.stdout.toString()).toContain('token: "[redacted]"');
  expect(printed.stdout.toString()).not.toContain(TOKEN);
});
