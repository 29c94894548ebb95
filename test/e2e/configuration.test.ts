import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { parse } from "yaml";
import { type CollectorProcess, startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { runCommand, startCommand } from "../kit/program.ts";
import { errorLine, errorLines } from "../kit/standard-error.ts";

function configurationFile(text: string, folder: string = temporaryDirectory()): string {
  const path = join(folder, "collector.yaml");
  writeFileSync(path, text);
  return path;
}

const FREE_PORTS = `
receivers: { otlp: { protocols: { http: { endpoint: 127.0.0.1:0 } } } }
api: { endpoint: 127.0.0.1:0 }
`;

async function startWith(file: string, argv: readonly string[] = []): Promise<CollectorProcess> {
  return startCollector(join(temporaryDirectory(), "collector.db"), ["--config", file, ...argv]);
}

/** Replaces the file, asks for a reload, and resolves with what the log says of it. */
async function reload(collector: CollectorProcess, file: string, text: string): Promise<Record<string, unknown>> {
  const before = errorLines(collector.program).length;
  writeFileSync(file, text);
  collector.program.process.kill("SIGHUP");
  const isAnswer = (line: string): boolean => /"msg":"(?:reloaded|the new configuration cannot be used)/.test(line);
  return JSON.parse(await errorLine(collector.program, isAnswer, before)) as Record<string, unknown>;
}

const status = async (url: string, token?: string): Promise<number> =>
  (await fetch(url, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } })).status;

describe("a collector with a file", () => {
  it("is not started, and not held, by a followed pipe that nobody writes to", async () => {
    const pipe = join(temporaryDirectory(), "pipe");
    execFileSync("mkfifo", [pipe]);
    const file = configurationFile(`receivers: { jsonl_file: { path: "${pipe}" } }\napi: { endpoint: 127.0.0.1:0 }\n`);
    const database = join(temporaryDirectory(), "collector.db");
    const { exitCode, stderr } = await runCommand(["collector", "--config", file, "--database", database]);
    expect(exitCode).toBe(2);
    expect(stderr.toString()).toContain(`agent-lifecycle: ${pipe} is no regular file`);
  });

  test("listens and stores where the file says, with paths from the file's folder", async () => {
    const folder = temporaryDirectory();
    configurationFile(`${FREE_PORTS}storage: { path: "\${env:NAME}.db" }\n`, folder);
    const environment = { AGENT_LIFECYCLE_CONFIG: join(folder, "collector.yaml"), NAME: "from-environment" };
    const program = startCommand(["collector", "--json"], { environment });
    const announced = JSON.parse(await program.line((line) => line.startsWith("{"))) as { readonly api: string };
    expect(await status(`${announced.api}/readyz`)).toBe(200);
    expect(existsSync(join(folder, "from-environment.db"))).toBe(true);
    program.process.kill("SIGTERM");
    expect((await program.end).exitCode).toBe(0);
  });

  test("has the flags over the file", async () => {
    const file = configurationFile("access: { tokens: [{ name: filed, token: filed-token, scopes: [read] }] }\n");
    const collector = await startWith(file, ["--read-token", "flagged-token"]);
    const url = `${collector.apiUrl}/api/v1/summary`;
    expect([await status(url), await status(url, "filed-token"), await status(url, "flagged-token")]).toEqual([
      401, 200, 200,
    ]);
  });

  test("does not start with a file that has problems, and names all of them", async () => {
    const folder = temporaryDirectory();
    const file = configurationFile("api: { endpont: x }\nstorage: { path: x.db, synchronous: fast }\n", folder);
    const { exitCode, stdout, stderr } = await runCommand(["collector", "--config", file]);
    expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr.toString()).toBe(
      `agent-lifecycle: the configuration ${file} cannot be used:\n` +
        "  1:8 api.endpont: is not known here; did you mean endpoint?\n" +
        "  2:24 storage.synchronous: must be one of full, normal\n",
    );
    expect(existsSync(join(folder, "x.db"))).toBe(false);
  });
});

describe("config", () => {
  test("check ends with 0 for a file that can be used, and 1 with every problem and its place", async () => {
    const folder = temporaryDirectory();
    const good = await runCommand(["config", "check", "--config", configurationFile(FREE_PORTS, folder)]);
    expect({ exitCode: good.exitCode, stdout: good.stdout.toString() }).toEqual({
      exitCode: 0,
      stdout: `${join(folder, "collector.yaml")} can be used\n`,
    });
    const tokens = "[{ name: a, token_file: missing, scopes: [read] }]";
    const text = `access: { tokens: ${tokens} }\napi: { tls: { cert_file: no.pem, key_file: no.key } }\nlimits: { queue: 1 KB }\n`;
    const file = configurationFile(text, folder);
    const bad = await runCommand(["config", "check", "--config", file]);
    expect(bad.exitCode).toBe(1);
    expect(bad.stdout.toString().split("\n")).toEqual([
      `${file}:1:31 access.tokens[0].token_file: cannot read ${join(folder, "missing")} (ENOENT)`,
      `${file}:2:15 api.tls.cert_file: cannot read ${join(folder, "no.pem")} (ENOENT)`,
      `${file}:2:34 api.tls.key_file: cannot read ${join(folder, "no.key")} (ENOENT)`,
      `${file}:3:11 limits.queue: must be a size such as 64KiB, 64MiB or 10GiB, or a whole number of bytes`,
      "",
    ]);
    const asJson = await runCommand(["config", "check", "--json", "--config", file]);
    expect(JSON.parse(asJson.stdout.toString())).toMatchObject({ sound: false, problems: { length: 4 } });
  });

  test.skipIf(process.platform !== "linux")("check reads no more of a file than a configuration may have", async () => {
    const { exitCode, stderr } = await runCommand(["config", "check", "--config", "/dev/zero"]);
    expect({ exitCode, stderr: stderr.toString() }).toEqual({
      exitCode: 2,
      stderr: "agent-lifecycle: /dev/zero has more than 1048576 bytes\n",
    });
  });

  test("check warns of what is unwise, and shows no token", async () => {
    const folder = temporaryDirectory();
    writeFileSync(join(folder, "token"), "hunter2\n");
    chmodSync(join(folder, "token"), 0o644);
    const file = configurationFile("access: { tokens: [{ name: a, token_file: token, scopes: [read] }] }", folder);
    const { exitCode, stdout } = await runCommand(["config", "check", "--config", file]);
    expect(exitCode).toBe(0);
    expect(stdout.toString()).toMatch(/^warning: .*collector\.yaml:1:31 access\.tokens\[0\]\.token_file: .*chmod 600/m);
    expect(stdout.toString()).toMatch(/^warning: .*access\.tokens\[0\].*: is easy to guess/m);
    expect(stdout.toString()).not.toContain("hunter2");
  });

  test("print shows what is in force, without tokens, as YAML and as JSON", async () => {
    const file = configurationFile(
      `${FREE_PORTS}access: { tokens: [{ name: a, token: hunter2-and-more, scopes: [read] }] }\n`,
    );
    const yaml = (await runCommand(["config", "print", "--config", file])).stdout.toString();
    const json = (await runCommand(["config", "print", "--json", "--config", file])).stdout.toString();
    expect(parse(yaml)).toEqual(JSON.parse(json));
    expect(parse(yaml)).toMatchObject({
      api: { endpoint: "127.0.0.1:0", max_streams: 256 },
      access: { tokens: [{ name: "a", token: "[redacted]", scopes: ["read"] }] },
    });
    expect(yaml + json).not.toContain("hunter2");
  });

  test("print without a file shows the defaults", async () => {
    const { exitCode, stdout } = await runCommand(["config", "print"]);
    expect(exitCode).toBe(0);
    expect(parse(stdout.toString())).toMatchObject({
      lifecycle: { stale_after: "2m" },
      service: { receivers: ["otlp"] },
    });
  });
});

describe("SIGHUP", () => {
  const level = (name: string): string => `service: { telemetry: { logs: { level: ${name} } } }\n`;

  it("changes the level of the log", async () => {
    const file = configurationFile(level("error"));
    const collector = await startWith(file);
    expect(errorLines(collector.program)).toEqual([]);
    const more = await reload(collector, file, level("info"));
    expect(more).toMatchObject({ level: "info", msg: "reloaded", applied: ["service.telemetry.logs.level"] });
    expect(await reload(collector, file, level("error"))).toMatchObject({ level: "info", msg: "reloaded" });
    expect(await reload(collector, file, "api: [")).toMatchObject({ level: "error" });
    // What is info is told no more: of two reloads the log has the second alone.
    writeFileSync(file, level("error"));
    collector.program.process.kill("SIGHUP");
    await collector.get("/readyz");
    await reload(collector, file, "api: [");
    expect(errorLines(collector.program).filter((line) => line.includes('"msg":"reloaded"'))).toHaveLength(2);
  });

  it("changes the tokens while the collector runs, names what waits, and logs no token", async () => {
    const file = configurationFile("");
    const collector = await startWith(file);
    const url = `${collector.apiUrl}/api/v1/summary`;
    expect(await status(url)).toBe(200);
    const next = `
access: { tokens: [{ name: reader, token: a-token-for-readers, scopes: [read] }] }
lifecycle: { stale_after: 5m }
`;
    expect(await reload(collector, file, next)).toMatchObject({
      applied: ["access.tokens"],
      needsRestart: ["lifecycle.stale_after"],
    });
    expect([await status(url), await status(url, "a-token-for-readers")]).toEqual([401, 200]);
    const { exitCode, stderr } = await collector.endBy("SIGTERM");
    expect(exitCode).toBe(0);
    expect(stderr.toString()).not.toContain("a-token-for-readers");
  });

  it("reads the files of tokens again", async () => {
    const folder = temporaryDirectory();
    const tokenFile = join(folder, "token");
    writeFileSync(tokenFile, "the-first-token-of-all\n", { mode: 0o600 });
    const text = "access: { tokens: [{ name: a, token_file: token, scopes: [read] }] }\n";
    const file = configurationFile(text, folder);
    const collector = await startWith(file);
    const url = `${collector.apiUrl}/api/v1/summary`;
    expect(await status(url, "the-first-token-of-all")).toBe(200);
    writeFileSync(tokenFile, "the-second-token-of-all\n");
    expect(await reload(collector, file, text)).toMatchObject({ applied: [], needsRestart: [] });
    expect([await status(url, "the-first-token-of-all"), await status(url, "the-second-token-of-all")]).toEqual([
      401, 200,
    ]);
  });

  it("changes nothing when the new file has a problem, and says which", async () => {
    const token = "access: { tokens: [{ name: reader, token: a-token-for-readers, scopes: [read] }] }\n";
    const file = configurationFile(token);
    const collector = await startWith(file);
    const url = `${collector.apiUrl}/api/v1/summary`;
    expect(await reload(collector, file, "access: { tokens: [] }\nlimits: { queue: many }\n")).toMatchObject({
      level: "error",
      problems: ["2:11 limits.queue: must be a size such as 64KiB, 64MiB or 10GiB, or a whole number of bytes"],
    });
    expect([await status(url), await status(url, "a-token-for-readers")]).toEqual([401, 200]);
  });

  it("ends a collector that has no file, as it ends everything else", async () => {
    const collector = await startCollector(join(temporaryDirectory(), "collector.db"));
    expect((await collector.endBy("SIGHUP")).exitCode).toBe(0);
  });
});

describe("the log", () => {
  const MARKS = ["a-mark-in-the-activity", "a-mark-in-the-details", "a-mark-in-a-broken-line", "a-mark-in-the-id"];

  it("holds nothing of events, sound or broken, at its most talkative level", async () => {
    const collector = await startWith(configurationFile("service: { telemetry: { logs: { level: trace } } }\n"));
    const [activity, detail, broken, id] = MARKS;
    const event = {
      schemaVersion: 1,
      eventId: "e1",
      source: "runner",
      sourceEpoch: "run-1",
      childId: id,
      kind: "created",
      state: "created",
      sequence: 1,
      observedAt: "2026-01-01T00:00:00Z",
      lineage: { rootChildId: id, attempt: 0, external: false },
      activity,
      details: { name: detail },
    };
    const lines = [JSON.stringify(event), `{"schemaVersion":1,"activity":"${broken}"}`, `no json: ${broken}`].join(
      "\n",
    );
    const headers = { "content-type": "application/x-ndjson" };
    const answer = await fetch(`${collector.ingestUrl}/v1/lifecycle/events`, { method: "POST", headers, body: lines });
    expect(answer.ok).toBe(true);
    expect(await collector.get("/api/v1/children")).toMatchObject({ children: [{ childId: id }] });
    const { stderr, stdout } = await collector.endBy("SIGTERM");
    expect(stderr.toString()).toContain('"msg":"ready"');
    for (const mark of MARKS) expect(`${stderr.toString()}${stdout.toString()}`).not.toContain(mark);
  });

  it("redacts what looks like a secret in the text of an error", async () => {
    const folder = join(temporaryDirectory(), "token=hunter2-and-more");
    mkdirSync(folder);
    const file = configurationFile("", folder);
    const collector = await startWith(file);
    rmSync(file);
    collector.program.process.kill("SIGHUP");
    const told = await errorLine(collector.program, (line) => line.includes("nothing was changed"));
    expect(JSON.parse(told)).toMatchObject({ level: "error", error: expect.stringContaining("ENOENT") });
    expect(told).not.toContain("hunter2");
  });
});

/** A request whose body never comes: whoever stops gracefully waits for it. */
async function beginRequest(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  await once(socket, "connect");
  const head = "POST /v1/logs HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 100\r\n";
  socket.write(`${head}expect: 100-continue\r\n\r\n`);
  await once(socket, "data");
}

describe("a shutdown", () => {
  it("that is late ends with 1, and says what did not stop", async () => {
    const collector = await startWith(configurationFile("service: { shutdown_timeout: 1ms }\n"));
    await beginRequest(collector.ingestUrl);
    const { exitCode, stderr } = await collector.endBy("SIGTERM");
    expect(exitCode).toBe(1);
    expect(stderr.toString()).toMatch(/^agent-lifecycle: did not stop within 1 ms: (?:[a-z_/]+, )*writer$/m);
  });

  it("cuts the requests that do not end, in time to be graceful", async () => {
    const collector = await startWith(configurationFile("service: { shutdown_timeout: 3s }\n"));
    await beginRequest(collector.ingestUrl);
    expect((await collector.endBy("SIGTERM")).exitCode).toBe(0);
  });

  it("ends at once by a second signal", async () => {
    const collector = await startWith(configurationFile("service: { shutdown_timeout: 1h }\n"));
    await beginRequest(collector.ingestUrl);
    collector.program.process.kill("SIGTERM");
    // It stops to listen first of all.
    await expect
      .poll(() =>
        fetch(`${collector.apiUrl}/healthz`).then(
          () => "up",
          () => "gone",
        ),
      )
      .toBe("gone");
    const { exitCode, stderr } = await collector.endBy("SIGINT");
    expect(exitCode).toBe(1);
    expect(stderr.toString()).toMatch(/^agent-lifecycle: SIGINT while stopping: ended at once/m);
  });
});
