import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  createAccessControl,
  createFileCertificates,
  type FileCertificates,
  type HttpServer,
} from "@agent-lifecycle/collector/parts";
import { beforeEach, describe, expect, test } from "vitest";
import {
  type CertificateAuthority,
  createCertificateAuthority,
  type IssuedCertificate,
} from "../../kit/certificates.ts";
import { temporaryDirectory } from "../../kit/event-file.ts";
import { fixture, startNode } from "../../kit/program.ts";
import { startIngest } from "./ingest-fixture.ts";
import { ManualPace } from "./runtime/manual-pace.ts";
import { ScriptedIntake } from "./scripted-intake.ts";

/** Files as an operator and a host have them, and a server that asks for certificates and for a token. */
interface Fixture {
  readonly intake: ScriptedIntake;
  readonly certificates: FileCertificates;
  readonly server: HttpServer;
  readonly authority: CertificateAuthority;
  /** Puts a new certificate where the server's is. */
  replace(certificate: IssuedCertificate): void;
  /** What a host is told by its environment. */
  readonly environment: Readonly<Record<string, string>>;
}

const TOKEN = "token-of-the-host";

async function startMutual(): Promise<Fixture> {
  const folder = temporaryDirectory();
  const file = (name: string, content?: string): string => {
    const path = join(folder, name);
    if (content !== undefined) writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  const authority = await createCertificateAuthority();
  const server = await authority.issue({ subject: "CN=localhost", usage: "server" });
  const client = await authority.issue({ subject: "CN=host", usage: "client" });
  const trusted = file("authority.pem", authority.certificate);
  const certificates = createFileCertificates({
    certFile: file("server.pem", server.certificate),
    keyFile: file("server.key", server.privateKey),
    clientCaFile: trusted,
    log: { info: () => {}, error: () => {} },
    now: Date.now,
    schedule: new ManualPace().schedule,
  });
  const intake = new ScriptedIntake();
  const ingest = await startIngest(intake, {
    tls: certificates,
    access: createAccessControl({ tokens: [{ name: "host", token: TOKEN, scopes: ["ingest"] }] }),
  });
  return {
    intake,
    certificates,
    server: ingest,
    authority,
    replace: ({ certificate, privateKey }) => {
      file("server.pem", certificate);
      file("server.key", privateKey);
    },
    environment: {
      OTEL_EXPORTER_OTLP_CERTIFICATE: trusted,
      OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: file("client.pem", client.certificate),
      OTEL_EXPORTER_OTLP_CLIENT_KEY: file("client.key", client.privateKey),
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${TOKEN}`,
    },
  };
}

let mutual: Fixture;

beforeEach(async () => {
  mutual = await startMutual();
});

function without(name: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(mutual.environment).filter(([key]) => !key.startsWith(name)));
}

describe("a host with OpenTelemetry's own exporter", () => {
  const send = async (line: string, protocol: string, environment: Readonly<Record<string, string>>) => {
    const url = `${mutual.server.url()}/v1/logs`;
    return startNode(fixture("stock-exporter-host.mjs"), [line, protocol, url], { environment }).end;
  };

  test.each([
    ["3", "http/json"],
    ["3", "http/protobuf"],
    ["2", "http/json"],
    ["2", "http/protobuf"],
  ])("(%s, %s) sends through TLS, with its certificate and its token", async (line, protocol) => {
    const { exitCode, stderr } = await send(line, protocol, mutual.environment);
    expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
    expect(mutual.intake.candidates).toHaveLength(6);
  });

  test.each([
    ["its token", "OTEL_EXPORTER_OTLP_HEADERS"],
    ["its certificate", "OTEL_EXPORTER_OTLP_CLIENT"],
    ["the authority of the server", "OTEL_EXPORTER_OTLP_CERTIFICATE"],
  ])("sends nothing without %s", async (_name, variable) => {
    await send("3", "http/json", without(variable));
    expect(mutual.intake.candidates).toEqual([]);
  });

  test("goes on with the certificate that has replaced the first", async () => {
    mutual.replace(await mutual.authority.issue({ subject: "CN=localhost, O=Renewed", usage: "server" }));
    expect(mutual.certificates.reload()).toBe("replaced");
    await send("3", "http/protobuf", mutual.environment);
    expect(mutual.intake.candidates).toHaveLength(6);
  });
});

test("a child that reports through our SDK does so too", async () => {
  const program = startNode(fixture("sdk-child.mjs"), ["child", "0"], {
    environment: { ...mutual.environment, OTEL_EXPORTER_OTLP_ENDPOINT: mutual.server.url() },
  });
  await expect
    .poll(() => mutual.intake.candidates.map((candidate) => (candidate as { readonly state: string }).state), {
      // A process starts in its own time.
      timeout: 20_000,
    })
    .toEqual(["created", "starting", "running"]);
  program.process.kill("SIGTERM");
});
