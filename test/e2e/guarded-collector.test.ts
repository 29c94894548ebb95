import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { get } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { encodeLogsProtobuf } from "@agent-lifecycle/proto";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import { type CertificateAuthority, createCertificateAuthority } from "../kit/certificates.ts";
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
): Promise<ServiceError | undefined> {
  const { host } = new URL(collector.grpcUrl);
  const client = new Client(host, credentials.createSsl(Buffer.from(authority.certificate)));
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
