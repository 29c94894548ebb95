import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createCertificateAuthority } from "../../kit/certificates.ts";
import { closedPort } from "../../kit/closed-port.ts";
import { startCollector } from "../../kit/collector-process.ts";
import { temporaryDirectory } from "../../kit/event-file.ts";
import { makeEvent } from "../../kit/events.ts";
import { runCommand, startCommand } from "../../kit/program.ts";
import { submit } from "../../kit/submit.ts";

interface Examination {
  readonly exitCode: number | null;
  readonly healthy: boolean;
  readonly findings: readonly { readonly check: string; readonly level: string; readonly text: string }[];
  /** One line for each finding, but the machine's room: whoever runs the tests may have little. */
  readonly lines: readonly string[];
}

async function doctor(...argv: readonly string[]): Promise<Examination> {
  const { exitCode, stdout, stderr } = await runCommand(["doctor", "--json", ...argv]);
  expect(stderr.toString()).toBe("");
  const { healthy, findings } = JSON.parse(stdout.toString()) as Omit<Examination, "exitCode" | "lines">;
  const lines = findings
    .filter(({ check }) => check !== "disk")
    .map(({ check, level, text }) => `${level} ${check} ${text}`);
  return { exitCode, healthy, findings, lines };
}

const portOf = (url: string): string => new URL(url).port;

describe("doctor", () => {
  test("finds a running collector, that its ports and its database are its own, and how far it is behind", async () => {
    const database = join(temporaryDirectory(), "collector.db");
    const collector = await startCollector(database);
    await submit(collector.ingestUrl, [makeEvent({ childId: "a", state: "created", sequence: 0 })]);
    const argv = [
      ...["--database", database],
      ...["--ingest-port", portOf(collector.ingestUrl), "--grpc-port", "0", "--api-port", portOf(collector.apiUrl)],
    ];
    const running = await doctor(...argv);
    expect(running.lines.filter((line) => !line.startsWith("ok "))).toEqual([]);
    expect(running).toMatchObject({ exitCode: 0, healthy: true });
    expect(running.lines).toContainEqual(expect.stringMatching(/^ok port API .* is held by the running collector/));
    expect(running.lines).toContainEqual(
      expect.stringMatching(/^ok port OTLP\/HTTP .* is held by the running collector/),
    );
    expect(running.lines).toContainEqual(expect.stringMatching(/^ok writer one collector writes to the database/));
    expect(running.lines).toContainEqual(expect.stringMatching(/^ok collector a collector runs at .* and is ready/));
    expect(running.lines).toContainEqual(expect.stringMatching(/^ok queue 0 bytes received and not yet durable/));

    const elsewhere = await doctor(...argv, "--api-port", String(await closedPort()));
    expect(elsewhere.lines).toContainEqual(expect.stringMatching(/^problem port OTLP\/HTTP .* is taken by /));
    expect(elsewhere.lines).toContainEqual(expect.stringMatching(/^warning writer another process writes to /));
    expect(elsewhere).toMatchObject({ exitCode: 1, healthy: false });

    const other = await doctor(...argv, "--database", join(temporaryDirectory(), "other.db"));
    expect(other.lines).toContain("ok writer no collector writes to the database");

    await collector.endBy("SIGTERM");
    const stopped = await doctor(...argv);
    expect(stopped.lines).toContainEqual(expect.stringMatching(/^ok port API .* is free/));
    expect(stopped.lines).toContain("ok writer no collector writes to the database");
    expect(stopped.lines).toContain("ok collector none runs at the API address");
  });

  test("asks with the read token, says when it has none, and never tells it", async () => {
    const token = "0123456789abcdef-read-0123456789abcdef";
    const database = join(temporaryDirectory(), "collector.db");
    const collector = await startCollector(database, ["--read-token", token]);
    const argv = ["--database", database, "--ingest-port", portOf(collector.ingestUrl)];
    argv.push("--grpc-port", "0", "--api-port", portOf(collector.apiUrl));
    const without = await doctor(...argv);
    expect(without.lines).toContainEqual(expect.stringMatching(/^warning queue .* asks for a token/));
    expect(without.exitCode).toBe(0);
    const withToken = await doctor(...argv, "--read-token", token);
    expect(withToken.lines).toContainEqual(expect.stringMatching(/^ok queue /));
    expect(JSON.stringify([without, withToken])).not.toContain(token);
    await collector.endBy("SIGTERM");
  });

  test("says on one line each what it found and what to do, and that something is a problem", async () => {
    const server = createServer((_request, response) => response.end("somebody else"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const database = join(temporaryDirectory(), "collector.db");
    const { exitCode, stdout } = await runCommand([
      ...["doctor", "--database", database, "--ingest-port", "0", "--grpc-port", "0", "--api-port", String(port)],
    ]);
    const lines = stdout.toString().trimEnd().split("\n");
    expect(lines.slice(0, -2).filter((line) => !/^(?:ok {5}|warning|problem) {2}[a-z]+: /.test(line))).toEqual([]);
    expect(lines).toContainEqual(
      expect.stringMatching(/^problem {2}port: API 127\.0\.0\.1:\d+ is taken by .* → stop it, or choose another port/),
    );
    expect(lines.at(-1)).toMatch(/^1 problem, \d+ warnings?$/);
    expect(exitCode).toBe(1);
  });

  test("goes through a database that a killed collector has left", async () => {
    const database = join(temporaryDirectory(), "collector.db");
    const collector = await startCollector(database);
    await submit(collector.ingestUrl, [makeEvent({ childId: "a", state: "created", sequence: 0 })]);
    await collector.endBy("SIGKILL");
    const examination = await doctor("--database", database, "--ingest-port", "0", "--api-port", "0");
    expect(examination.lines).toContain("ok database every page and index of it is sound");
    expect(examination.lines).toContain("ok writer no collector writes to the database");
    expect(examination.exitCode).toBe(0);
    // What was left is whole: a collector takes it up again.
    const again = startCommand(["verify", "--database", database]);
    expect((await again.end).exitCode).toBe(0);
  });
});

describe("doctor of a configuration file", () => {
  const SECRET = "s3cr3t-0123456789abcdef0123456789";

  test("says once of each thing what is wrong with it, where it stands, and no secret", async () => {
    const folder = temporaryDirectory();
    const authority = await createCertificateAuthority();
    const one = await authority.issue({ subject: "CN=one", usage: "server" });
    const other = await authority.issue({ subject: "CN=other", usage: "server" });
    writeFileSync(join(folder, "cert.pem"), one.certificate);
    writeFileSync(join(folder, "key.pem"), other.privateKey, { mode: 0o600 });
    writeFileSync(join(folder, "token"), SECRET, { mode: 0o644 });
    writeFileSync(
      join(folder, "collector.yaml"),
      [
        "storage: { path: data/collector.db }",
        "receivers:",
        "  otlp: { protocols: { http: { endpoint: 127.0.0.1:0 } } }",
        "  jsonl_file/journal: { path: journal.jsonl }",
        "  module/mine: { module: ./mine.mjs, options: { port: 1 } }",
        "api: { endpoint: 127.0.0.1:0, tls: { cert_file: cert.pem, key_file: key.pem } }",
        "access:",
        "  tokens:",
        "    - { name: weak, token: hunter2, scopes: [read] }",
        "    - { name: open, token_file: token, scopes: [ingest] }",
        "    - { name: gone, token_file: none, scopes: [admin] }",
        "",
      ].join("\n"),
    );
    writeFileSync(
      join(folder, "mine.mjs"),
      `export const componentApiVersion = 1;
       export const createReceiver = () => { throw new Error("was made"); };
       export const optionsSchema = { properties: { port: { type: "string" } } };`,
    );
    const examination = await doctor("--config", join(folder, "collector.yaml"));
    const faults = examination.lines.filter((line) => !line.startsWith("ok "));
    expect(faults).toHaveLength(6);
    expect(faults).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^problem configuration 6:\d+ api\.tls: the private key belongs to another certificate$/),
        expect.stringMatching(/^warning configuration 9:\d+ access\.tokens\[0\].*easy to guess/),
        expect.stringMatching(
          /^warning configuration 10:\d+ access\.tokens\[1\]\.token_file: .*by others than its owner/,
        ),
        expect.stringMatching(/^problem configuration 11:\d+ access\.tokens\[2\]\.token_file: cannot read .*ENOENT/),
        expect.stringMatching(/^warning file .*journal\.jsonl is not there$/),
        "problem module receivers.module/mine.options.port: must be string",
      ]),
    );
    expect(examination.lines).toContainEqual(expect.stringContaining(`${join(folder, "data")} is not there yet`));
    expect(examination.exitCode).toBe(1);
    expect(JSON.stringify(examination)).not.toMatch(/s3cr3t|hunter2|PRIVATE KEY/);
  });
});
