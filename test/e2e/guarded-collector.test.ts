import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { get } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { encodeLogsProtobuf } from "@agent-lifecycle/proto";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import { type CertificateAuthority, createCertificateAuthority, type IssuedCertificate } from "../kit/certificates.ts";
import { type CollectorProcess, startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { eventsOf } from "../kit/event-run.ts";
import { errorLine } from "../kit/standard-error.ts";
import { ingestRequest } from "../kit/submit.ts";
import { TlsClient } from "../unit/collector/tls-client.ts";

const TOKEN = "a-token-of-the-runner-4b1f90c27e";
const READER = "a-token-of-the-wall-0d4c7a61be";
const EXPORT = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";

interface Guarded {
  readonly collector: CollectorProcess;
  readonly folder: string;
  readonly authority: CertificateAuthority;
}

async function writeCertificate(authority: CertificateAuthority, folder: string): Promise<void> {
  const { certificate, privateKey } = await authority.issue({ subject: "CN=localhost", usage: "server" });
  writeFileSync(join(folder, "server.pem"), certificate);
  writeFileSync(join(folder, "server.key"), privateKey, { mode: 0o600 });
}

async function startGuarded(more = ""): Promise<Guarded> {
  const folder = temporaryDirectory();
  const authority = await createCertificateAuthority();
  await writeCertificate(authority, folder);
  const tls = "tls: { cert_file: server.pem, key_file: server.key }";
  const file = join(folder, "collector.yaml");
  writeFileSync(
    file,
    `receivers: { otlp: { protocols: {
      http: { endpoint: "127.0.0.1:0", ${tls} }, grpc: { endpoint: "127.0.0.1:0", ${tls} } } } }
api: { endpoint: "127.0.0.1:0", ${tls} }
access: { tokens: [
  { name: runner, token: ${TOKEN}, scopes: [ingest], sources: [runner] },
  { name: wall, token: ${READER}, scopes: [read] } ] }
${more}`,
    { mode: 0o600 },
  );
  const collector = await startCollector(join(folder, "collector.db"), ["--config", file]);
  return { collector, folder, authority };
}

async function read(
  { collector, authority }: Guarded,
  path: string,
  token?: string,
): Promise<{ readonly status: number; readonly body: string }> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const asking = get(new URL(path, collector.apiUrl), { ca: authority.certificate, headers, agent: false });
  const [answer] = (await once(asking, "response")) as [import("node:http").IncomingMessage];
  return { status: answer.statusCode ?? 0, body: await text(answer) };
}

function exportByGrpc(
  { collector, authority }: Guarded,
  token: string | undefined,
  message: Buffer,
  shows?: IssuedCertificate,
): Promise<ServiceError | undefined> {
  const { host } = new URL(collector.grpcUrl);
  const own = shows === undefined ? [] : [Buffer.from(shows.privateKey), Buffer.from(shows.certificate)];
  const client = new Client(host, credentials.createSsl(Buffer.from(authority.certificate), ...own));
  const metadata = new Metadata();
  if (token !== undefined) metadata.set("authorization", `Bearer ${token}`);
  const asItIs = (bytes: Buffer): Buffer => bytes;
  return new Promise((resolve) => {
    client.makeUnaryRequest(EXPORT, asItIs, asItIs, message, metadata, (error) => {
      client.close();
      resolve(error ?? undefined);
    });
  });
}

describe("a collector with TLS on every listener and a token for everybody", () => {
  test("takes, shows and refuses accordingly, over HTTP and gRPC", async () => {
    const guarded = await startGuarded();
    const { collector, authority } = guarded;
    for (const url of [collector.ingestUrl, collector.grpcUrl, collector.apiUrl]) expect(url).toMatch(/^https:/);
    const client = new TlsClient({ trusts: authority });
    const { body } = ingestRequest(eventsOf("child", 3), "json");
    const logs = `${collector.ingestUrl}/v1/logs`;
    expect((await client.post(logs, String(body))).statusCode).toBe(401);
    expect((await client.post(logs, String(body), { authorization: `Bearer ${READER}` })).statusCode).toBe(403);
    expect((await client.post(logs, String(body), { authorization: `Bearer ${TOKEN}` })).statusCode).toBe(200);
    expect((await read(guarded, "/api/v1/children/runner/child")).status).toBe(401);
    expect((await read(guarded, "/api/v1/children/runner/child", TOKEN)).status).toBe(403);
    expect(JSON.parse((await read(guarded, "/api/v1/children/runner/child", READER)).body)).toMatchObject({
      state: "running",
    });
    const message = Buffer.from(
      encodeLogsProtobuf({
        resourceAttributes: {},
        records: eventsOf("by-grpc", 3).map((event) => ({ event, emittedAtMs: 0 })),
      }),
    );
    expect((await exportByGrpc(guarded, undefined, message))?.code).toBe(16);
    expect((await exportByGrpc(guarded, READER, message))?.code).toBe(7);
    expect(await exportByGrpc(guarded, TOKEN, message)).toBeUndefined();
    expect((await read(guarded, "/api/v1/children/runner/by-grpc", READER)).status).toBe(200);
    const { stdout, stderr } = await collector.endBy("SIGTERM");
    for (const secret of [TOKEN, READER]) expect(stdout.toString() + stderr.toString()).not.toContain(secret);
  });

  test("shows another certificate after SIGHUP, without a connection being refused in between", async () => {
    const guarded = await startGuarded();
    const { collector, folder } = guarded;
    const next = await createCertificateAuthority("Next Authority");
    await writeCertificate(next, folder);
    collector.program.process.kill("SIGHUP");
    await errorLine(collector.program, (line) => line.includes('"msg":"reloaded"'), 0);
    await expect(read(guarded, "/healthz")).rejects.toThrow();
    expect((await read({ ...guarded, authority: next }, "/healthz")).status).toBe(200);
    expect(await exportByGrpc({ ...guarded, authority: next }, TOKEN, Buffer.alloc(0))).toBeUndefined();
    await collector.endBy("SIGTERM");
  });

  test("refuses a sender that sends too often with 429 and when to come again, and nobody else", async () => {
    const guarded = await startGuarded("limits: { requests_per_second: 3 }\n");
    const { collector, authority } = guarded;
    const client = new TlsClient({ trusts: authority });
    const statuses: number[] = [];
    for (let request = 0; request < 12; request += 1) {
      const { statusCode } = await client.post(`${collector.ingestUrl}/v1/logs`, "{}", {
        authorization: `Bearer ${TOKEN}`,
      });
      statuses.push(statusCode);
    }
    expect(statuses.slice(0, 3)).toEqual([200, 200, 200]);
    expect(statuses).toContain(429);
    const limited = await exportByGrpc(guarded, TOKEN, Buffer.alloc(0));
    expect(limited?.code).toBe(8);
    expect((await read(guarded, "/api/v1/summary", READER)).status).toBe(200);
    await collector.endBy("SIGTERM");
  });
});

function otlpMessage(childId: string, source?: string): Buffer {
  const records = eventsOf(childId, 3).map((event) => ({
    event: source === undefined ? event : { ...event, source },
    emittedAtMs: 0,
  }));
  return Buffer.from(encodeLogsProtobuf({ resourceAttributes: {}, records }));
}

describe("a collector that knows its senders by their certificates", () => {
  interface Mutual extends Guarded {
    readonly file: string;
    write(certificates: string): void;
  }

  async function startMutual(certificates: string): Promise<Mutual> {
    const folder = temporaryDirectory();
    const authority = await createCertificateAuthority();
    await writeCertificate(authority, folder);
    writeFileSync(join(folder, "clients.pem"), authority.certificate);
    const file = join(folder, "collector.yaml");
    const tls = "tls: { cert_file: server.pem, key_file: server.key, client_ca_file: clients.pem }";
    const write = (entries: string): void =>
      writeFileSync(
        file,
        `receivers: { otlp: { protocols: {
      http: { endpoint: "127.0.0.1:0", ${tls} }, grpc: { endpoint: "127.0.0.1:0", ${tls} } } } }
api: { endpoint: "127.0.0.1:0", ${tls} }
access: { certificates: [${entries}] }\n`,
      );
    write(certificates);
    const collector = await startCollector(join(folder, "collector.db"), ["--config", file]);
    return { collector, folder, authority, file, write };
  }

  const runner =
    "{ name: runner, alternative_name: 'URI:spiffe://example/runner', scopes: [ingest], sources: [runner] }";
  const reader = "{ name: wall, common_name: wall, scopes: [read] }";

  test("lets each do what its entry says, over HTTP and gRPC, and goes by other entries after SIGHUP", async () => {
    const mutual = await startMutual(`${runner}, ${reader}`);
    const { collector, authority } = mutual;
    const issue = (subject: string, uri?: string): Promise<IssuedCertificate> =>
      authority.issue({
        subject,
        usage: "client",
        ...(uri === undefined ? undefined : { alternativeNames: [{ type: "url", value: uri }] }),
      });
    const sender = await issue("CN=pod-4711", "spiffe://example/runner");
    const wall = await issue("O=Example, CN=wall");
    const stranger = await issue("CN=spiffe://example/runner");
    const logs = `${collector.ingestUrl}/v1/logs`;
    const { body } = ingestRequest(eventsOf("child", 3), "json");
    const post = async (shows: IssuedCertificate): Promise<number> =>
      (await new TlsClient({ trusts: authority, shows }).post(logs, String(body))).statusCode;
    const readBy = async (shows: IssuedCertificate, path: string): Promise<number> => {
      const asking = get(new URL(path, collector.apiUrl), {
        ca: authority.certificate,
        cert: shows.certificate,
        key: shows.privateKey,
        agent: false,
      });
      const [answer] = (await once(asking, "response")) as [import("node:http").IncomingMessage];
      answer.resume();
      return answer.statusCode ?? 0;
    };
    expect([await post(sender), await post(wall), await post(stranger)]).toEqual([200, 403, 403]);
    expect(await exportByGrpc(mutual, undefined, otlpMessage("by-grpc"), sender)).toBeUndefined();
    expect((await exportByGrpc(mutual, undefined, otlpMessage("by-grpc"), wall))?.code).toBe(7);
    expect((await exportByGrpc(mutual, undefined, otlpMessage("by-grpc"), stranger))?.code).toBe(7);
    // It may not speak for another source: nothing of that is stored.
    expect(await exportByGrpc(mutual, undefined, otlpMessage("theirs", "other"), sender)).toBeUndefined();
    expect(await readBy(wall, "/api/v1/children/runner/by-grpc")).toBe(200);
    expect(await readBy(wall, "/api/v1/children/other/theirs")).toBe(404);
    expect([await readBy(sender, "/api/v1/summary"), await readBy(stranger, "/api/v1/summary")]).toEqual([403, 403]);

    mutual.write(reader);
    collector.program.process.kill("SIGHUP");
    const told = await errorLine(collector.program, (line) => line.includes('"msg":"reloaded"'), 0);
    expect(JSON.parse(told)).toMatchObject({ applied: ["access.certificates"], needsRestart: [] });
    // What nobody is granted any more is open to everybody whose certificate is verified.
    expect([await post(sender), await post(stranger), await readBy(sender, "/api/v1/summary")]).toEqual([
      200, 200, 403,
    ]);
    await collector.endBy("SIGTERM");
  });
});
