import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { runCommand } from "../kit/program.ts";
import { ENCODINGS } from "../kit/submit.ts";
import { EventStreamClient } from "../unit/collector/event-stream-client.ts";
import { CarelessCaller } from "./redaction/careless-caller.ts";
import { appendEvents, brokenLines, CarelessSender } from "./redaction/careless-sender.ts";
import { everyAnswer, filesOf } from "./redaction/outputs.ts";
import {
  eventsWith,
  forbiddenStrings,
  HARMLESS_ACTIVITY,
  leaksIn,
  type RawEvent,
  rawEvent,
  samples,
} from "./redaction/samples.ts";

const INGEST_TOKEN = "ingest-0-please-do-not-log-me";
const READ_TOKEN = "read-0-please-do-not-log-me-either";
const ADMIN_TOKEN = "admin-0-please-do-not-log-me-at-all";
const RUNNER_TOKEN = "runner-0-please-do-not-log-me-ever";
const TOKENS: readonly string[] = [INGEST_TOKEN, READ_TOKEN, ADMIN_TOKEN, RUNNER_TOKEN];

/** One token in the file, one in a file of its own. */
function writeConfiguration(folder: string, backups: string): string {
  writeFileSync(join(folder, "admin-token"), `${ADMIN_TOKEN}\n`, { mode: 0o600 });
  const path = join(folder, "collector.yaml");
  writeFileSync(
    path,
    `storage: { backup_directory: ${JSON.stringify(backups)} }
access: { tokens: [
  { name: operator, token_file: admin-token, scopes: [admin] },
  { name: runner, token: ${RUNNER_TOKEN}, scopes: [ingest] } ] }
receivers: { otlp: { protocols: { http: {}, grpc: { endpoint: "127.0.0.1:0" } } } }
`,
    { mode: 0o600 },
  );
  return path;
}

/** Does what can be done with the admin API and some that cannot; returns all that it says. */
async function administer(apiUrl: string, copy: string): Promise<string> {
  const answers: string[] = [];
  const ask = async (path: string, body: object, token: string): Promise<number> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(`${apiUrl}/api/v1/admin/${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    answers.push(await response.text());
    return response.status;
  };
  for (const path of ["reload", "retention/run"]) expect([path, await ask(path, {}, ADMIN_TOKEN)]).toEqual([path, 200]);
  expect(await ask("backup", { name: copy }, ADMIN_TOKEN)).toBe(200);
  for (const token of [INGEST_TOKEN, READ_TOKEN]) expect(await ask("reload", {}, token)).toBe(403);
  for (const { in: sample } of samples) await ask("backup", { name: sample.text ?? sample.details }, ADMIN_TOKEN);
  const actions = await fetch(`${apiUrl}/api/v1/admin/actions`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  answers.push(await actions.text());
  return answers.join("\n");
}

describe("a secret that a careless producer sends is nowhere afterwards (N3)", () => {
  test("not in the database, the answers, the stream, the board, the metrics or the log, by whatever way it came", {
    timeout: 60_000,
  }, async () => {
    const [data, inputs] = [join(temporaryDirectory(), "data"), temporaryDirectory()];
    mkdirSync(data);
    const [database, followed] = [join(data, "collector.db"), join(inputs, "events.jsonl")];
    writeFileSync(followed, "");
    const sent: RawEvent[] = [];
    const eventsBy = (way: string): readonly RawEvent[] => {
      const events = samples.flatMap((sample, index) => eventsWith(sample, `${way}-${index}`));
      sent.push(...events);
      return events;
    };
    const lines = (way: string): string =>
      eventsBy(way)
        .map((event) => `${JSON.stringify(event)}\n`)
        .join("");
    const configuration = writeConfiguration(inputs, data);
    const collector = await startCollector(
      database,
      ["--config", configuration, "--ingest-token", INGEST_TOKEN, "--follow", followed, "--stdin"],
      // The other token by the environment, where it shows in no list of processes.
      { input: lines("stdin") + brokenLines(), environment: { AGENT_LIFECYCLE_READ_TOKEN: READ_TOKEN } },
    );
    const { apiUrl } = collector;
    const stream = await EventStreamClient.open(apiUrl, "?after=0", { authorization: `Bearer ${READ_TOKEN}` });
    const sender = new CarelessSender(collector, [INGEST_TOKEN, READ_TOKEN]);
    for (const encoding of ENCODINGS) expect(await sender.sendEvents(eventsBy(encoding), encoding)).toBe(200);
    const caller = new CarelessCaller(collector.grpcUrl, INGEST_TOKEN);
    expect(await caller.sendEvents(eventsBy("grpc"))).toBe(0);
    appendEvents(followed, eventsBy("file"));
    await sender.sendBroken();
    await sender.sendSnapshots();
    await sender.sendAround();
    await sender.sendOddRequests();
    await caller.sendOddCalls();

    const forbidden = [...forbiddenStrings(), ...TOKENS];
    expect(forbidden.length).toBeGreaterThan(100);
    expect(leaksIn(JSON.stringify([sent, TOKENS]), forbidden)).toEqual(forbidden);

    // Every way brought its children, those that read at their own pace too. Some say the same by every way, and are
    // known of the first.
    const childrenOf = (way: string) => [...stream.children.keys()].filter((childId) => childId.startsWith(`${way}-`));
    await stream.until(() => childrenOf("stdin").length >= childrenOf("lines").length);
    await stream.until(() => childrenOf("file").length >= childrenOf("lines").length);
    for (const way of [...ENCODINGS, "grpc"]) expect(childrenOf(way).length).toBeGreaterThan(samples.length);
    // The stream keeps the order of the log: what is sent last is told last.
    expect(await sender.sendEvents([rawEvent("the-last", {})], "json")).toBe(200);
    await stream.until(() => stream.children.has("the-last"));

    const administered = await administer(apiUrl, "copy.db");
    expect(readdirSync(data)).toContain("copy.db");
    const answers = await everyAnswer(apiUrl, READ_TOKEN);
    const whileRunning = filesOf(data);
    const commands = await Promise.all([
      runCommand(["status", "--url", apiUrl], { environment: { AGENT_LIFECYCLE_READ_TOKEN: READ_TOKEN } }),
      runCommand(["status", "--url", apiUrl, "--read-token", "wrong-token-that-nobody-knows"]),
    ]);
    const { exitCode, stdout, stderr } = await collector.endBy("SIGTERM");
    expect(exitCode).toBe(0);
    const afterwards = filesOf(data);

    // The looking works: what is no secret is found in all of them.
    for (const output of [answers, whileRunning, afterwards, stream.text]) {
      expect(output.includes(HARMLESS_ACTIVITY)).toBe(true);
      expect(output.includes("[redacted]")).toBe(true);
    }
    const printed = [{ stdout, stderr }, ...commands].map((end) => `${end.stdout}\n${end.stderr}`).join("\n");
    expect(leaksIn([...sender.told, ...caller.told].join("\n"), forbidden), "answers to the sender").toEqual([]);
    expect(leaksIn(administered, forbidden), "answers to the administrator").toEqual([]);
    expect(leaksIn(answers, forbidden), "API, board and metrics").toEqual([]);
    expect(leaksIn(stream.text, forbidden), "stream").toEqual([]);
    expect(leaksIn(whileRunning, forbidden), "database and backup while running").toEqual([]);
    expect(leaksIn(afterwards, forbidden), "database and backup afterwards").toEqual([]);
    expect(leaksIn(printed, forbidden), "log and terminal").toEqual([]);
  });

  test.each([
    ["a member that there is not", `access: { tokens: [{ name: a, tokn: ${RUNNER_TOKEN}, scopes: [ingest] }] }`],
    ["a token where a scope belongs", `access: { tokens: [{ name: a, token: b, scopes: [${RUNNER_TOKEN}] }] }`],
    ["a token that can not be sent", `access: { tokens: [{ name: a, token: "${RUNNER_TOKEN} b", scopes: [read] }] }`],
    ["two tokens alike", `access: { tokens: [${`{ name: a, token: ${RUNNER_TOKEN}, scopes: [read] },`.repeat(2)}] }`],
    ["broken YAML", `access: { tokens: [{ name: a, token: ${RUNNER_TOKEN}, scopes: [ingest }`],
    ["a token of the wrong kind", `access: { tokens: { token: ${RUNNER_TOKEN} } }`],
  ])("nor in what is said of a configuration with %s", async (_name, yaml) => {
    const path = join(temporaryDirectory(), "collector.yaml");
    writeFileSync(path, yaml, { mode: 0o600 });
    const ends = await Promise.all([
      runCommand(["collector", "--config", path, "--database", join(temporaryDirectory(), "collector.db")]),
      runCommand(["config", "check", "--config", path]),
      runCommand(["config", "print", "--config", path]),
      runCommand(["doctor", "--config", path]),
    ]);
    for (const { exitCode, stdout, stderr } of ends) {
      expect(exitCode).not.toBe(0);
      expect(`${stdout}${stderr}`).not.toBe("");
      expect(`${stdout}\n${stderr}`).not.toContain(RUNNER_TOKEN);
    }
  });
});
