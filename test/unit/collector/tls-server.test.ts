import { once } from "node:events";
import { connect } from "node:net";
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from "node:tls";
import {
  type CertificateSource,
  createAccessControl,
  type HttpServer,
  type TlsMaterial,
} from "@agent-lifecycle/collector/parts";
import { beforeAll, describe, expect, it, onTestFinished, test } from "vitest";
import {
  type CertificateAuthority,
  createCertificateAuthority,
  type IssuedCertificate,
} from "../../kit/certificates.ts";
import { makeEvent } from "../../kit/events.ts";
import { otlpBody, startIngest } from "./ingest-fixture.ts";
import { ScriptedIntake } from "./scripted-intake.ts";
import { TlsClient } from "./tls-client.ts";

const ONE_DAY_MS = 86_400_000;
const body = otlpBody("json", [makeEvent({ childId: "a", state: "created", sequence: 1 })]);

let authority: CertificateAuthority;
let otherAuthority: CertificateAuthority;
let server: IssuedCertificate;
let runner: IssuedCertificate;
let wall: IssuedCertificate;
let expired: IssuedCertificate;
let stranger: IssuedCertificate;
let asServer: IssuedCertificate;

beforeAll(async () => {
  [authority, otherAuthority] = await Promise.all([
    createCertificateAuthority(),
    createCertificateAuthority("Other Authority"),
  ]);
  const before = { notBefore: new Date(Date.now() - 2 * ONE_DAY_MS), notAfter: new Date(Date.now() - ONE_DAY_MS) };
  [server, runner, wall, expired, stranger, asServer] = await Promise.all([
    authority.issue({ subject: "CN=localhost", usage: "server" }),
    authority.issue({ subject: "O=Example, CN=runner", usage: "client" }),
    authority.issue({ subject: "O=Example, CN=wall", usage: "client" }),
    authority.issue({ subject: "O=Example, CN=runner", usage: "client", ...before }),
    otherAuthority.issue({ subject: "O=Example, CN=runner", usage: "client" }),
    authority.issue({ subject: "O=Example, CN=runner", usage: "server" }),
  ]);
});

function materialOf(certificate: IssuedCertificate, clients?: CertificateAuthority): TlsMaterial {
  return {
    certificate: Buffer.from(certificate.certificate),
    privateKey: Buffer.from(certificate.privateKey),
    ...(clients === undefined ? undefined : { clientAuthorities: Buffer.from(clients.certificate) }),
  };
}

/** A source whose material a test replaces. */
function sourceOf(material: TlsMaterial): CertificateSource & { replace(material: TlsMaterial): void } {
  const listeners = new Set<(material: TlsMaterial) => void>();
  let inForce = material;
  return {
    current: () => inForce,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    replace: (replacement) => {
      inForce = replacement;
      for (const listener of listeners) listener(replacement);
    },
  };
}

function logsUrl(ingest: HttpServer): string {
  return `${ingest.url()}/v1/logs`;
}

function beginTls(ingest: HttpServer, options: ConnectionOptions): TLSSocket {
  const { hostname, port } = new URL(ingest.url());
  const socket = connectTls({ host: hostname, port: Number(port), ca: authority.certificate, ...options });
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Opens a TLS connection. Rejects when the server does not want it; TLS 1.3 says so only after the handshake. */
async function openTls(ingest: HttpServer, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = beginTls(ingest, options);
  await once(socket, "secureConnect");
  return socket;
}

const GET_REQUEST = "GET /v1/logs HTTP/1.1\r\nHost: localhost\r\n\r\n";

async function answerToSession(ingest: HttpServer, options: ConnectionOptions): Promise<"answered" | "refused"> {
  try {
    const socket = await openTls(ingest, options);
    socket.write(GET_REQUEST);
    await once(socket, "data");
    return "answered";
  } catch {
    return "refused";
  }
}

describe("a server with a certificate", () => {
  it("takes what comes by TLS, and says so in its address", async () => {
    const intake = new ScriptedIntake();
    const ingest = await startIngest(intake, { tls: sourceOf(materialOf(server)) });
    expect(ingest.url()).toMatch(/^https:/);
    const answer = await new TlsClient({ trusts: authority }).post(logsUrl(ingest), body);
    expect(answer.statusCode).toBe(200);
    expect(intake.candidates).toHaveLength(1);
  });

  it("takes nothing in plain text", async () => {
    const intake = new ScriptedIntake();
    const ingest = await startIngest(intake, { tls: sourceOf(materialOf(server)) });
    const plain = logsUrl(ingest).replace("https:", "http:");
    await expect(fetch(plain, { method: "POST", body })).rejects.toThrow();
    expect(intake.received).toEqual([]);
  });

  it("proves who it is: a client that trusts another authority goes away", async () => {
    const ingest = await startIngest(new ScriptedIntake(), { tls: sourceOf(materialOf(server)) });
    const client = new TlsClient({ trusts: otherAuthority });
    await expect(client.post(logsUrl(ingest), body)).rejects.toThrow(/certificate|issuer/);
  });

  test.each(["TLSv1", "TLSv1.1"] as const)("refuses %s", async (version) => {
    const ingest = await startIngest(new ScriptedIntake(), { tls: sourceOf(materialOf(server)) });
    const old = { minVersion: version, maxVersion: version, ciphers: "DEFAULT@SECLEVEL=0" } as const;
    await expect(openTls(ingest, old)).rejects.toThrow(/version|protocol/i);
  });

  test.each(["TLSv1.2", "TLSv1.3"] as const)("speaks %s", async (version) => {
    const ingest = await startIngest(new ScriptedIntake(), { tls: sourceOf(materialOf(server)) });
    const socket = await openTls(ingest, { minVersion: version, maxVersion: version });
    expect(socket.getProtocol()).toBe(version);
  });

  it("closes a connection whose client never begins to speak TLS", async () => {
    const ingest = await startIngest(new ScriptedIntake(), {
      tls: sourceOf(materialOf(server)),
      headersTimeoutMs: 100,
    });
    const { hostname, port } = new URL(ingest.url());
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.resume();
    await once(socket, "close");
  });
});

describe("a server with client authorities (mTLS)", () => {
  const grants = {
    tokens: [],
    certificates: [{ name: "runner", subject: "O=Example, CN=runner", scopes: ["ingest"], sources: ["runner"] }],
  } as const;

  async function startMutual(intake = new ScriptedIntake()): Promise<HttpServer> {
    return startIngest(intake, {
      tls: sourceOf(materialOf(server, authority)),
      access: createAccessControl(grants),
    });
  }

  it("knows a client by its certificate, and passes on for which sources it may speak", async () => {
    const intake = new ScriptedIntake();
    const ingest = await startMutual(intake);
    const answer = await new TlsClient({ trusts: authority, shows: runner }).post(logsUrl(ingest), body);
    expect(answer.statusCode).toBe(200);
    expect(intake.received[0]?.origin.allowedSources).toEqual(new Set(["runner"]));
  });

  it("forbids what the certificate was not granted", async () => {
    const ingest = await startMutual();
    const answer = await new TlsClient({ trusts: authority, shows: wall }).post(logsUrl(ingest), body);
    expect(answer.statusCode).toBe(403);
  });

  test.each([
    ["no certificate", () => undefined],
    ["one of another authority", () => stranger],
    ["an expired one", () => expired],
    ["one that is for servers", () => asServer],
    [
      "one that it has made itself",
      async () => (await createCertificateAuthority()).issue({ subject: "O=Example, CN=runner", usage: "client" }),
    ],
    ["a right one without its key", () => ({ certificate: runner.certificate, privateKey: wall.privateKey })],
  ])("a client with %s gets no answer", async (_name, certificate) => {
    const intake = new ScriptedIntake();
    const ingest = await startMutual(intake);
    const shows = await certificate();
    const post = async () =>
      new TlsClient({ trusts: authority, ...(shows === undefined ? undefined : { shows }) }).post(
        logsUrl(ingest),
        body,
      );
    await expect(post()).rejects.toThrow();
    expect(intake.received).toEqual([]);
  });
});

describe("certificates that are replaced while the server runs", () => {
  it("are shown to new connections; an open one is finished with the old one", async () => {
    const source = sourceOf(materialOf(server));
    const ingest = await startIngest(new ScriptedIntake(), { tls: source });
    const open = new TlsClient({ trusts: authority, keepAlive: true, maxSockets: 1 });
    const before = await open.post(logsUrl(ingest), body);
    source.replace(materialOf(await otherAuthority.issue({ subject: "CN=localhost", usage: "server" })));

    const after = await open.post(logsUrl(ingest), body);
    expect([after.statusCode, after.localPort]).toEqual([200, before.localPort]);
    expect((await new TlsClient({ trusts: otherAuthority }).post(logsUrl(ingest), body)).statusCode).toBe(200);
    await expect(new TlsClient({ trusts: authority }).post(logsUrl(ingest), body)).rejects.toThrow();
  });

  it("decide about new clients", async () => {
    const source = sourceOf(materialOf(server, authority));
    const ingest = await startIngest(new ScriptedIntake(), { tls: source });
    const post = (shows: IssuedCertificate) => new TlsClient({ trusts: authority, shows }).post(logsUrl(ingest), body);
    await expect(post(stranger)).rejects.toThrow();
    source.replace(materialOf(server, otherAuthority));
    expect((await post(stranger)).statusCode).toBe(200);
    await expect(post(runner)).rejects.toThrow();
  });

  test.each(["TLSv1.2", "TLSv1.3"] as const)("are not got around with a session of before (%s)", async (version) => {
    const source = sourceOf(materialOf(server, authority));
    const ingest = await startIngest(new ScriptedIntake(), { tls: source });
    const versions = { minVersion: version, maxVersion: version };
    const credentials = { ...versions, cert: runner.certificate, key: runner.privateKey };
    // One version hands it out before the handshake is over, the other after it.
    const tickets: Buffer[] = [];
    const first = beginTls(ingest, credentials).on("session", (ticket) => tickets.push(ticket));
    await once(first, "secureConnect");
    first.write(GET_REQUEST);
    await once(first, "data");
    const [ticket] = tickets;
    if (ticket === undefined) throw new Error("the server hands out no sessions");

    // Until the authorities change, a session that is resumed needs no certificate.
    expect(await answerToSession(ingest, { ...versions, session: ticket })).toBe("answered");
    source.replace(materialOf(server, otherAuthority));
    expect(await answerToSession(ingest, { ...versions, session: ticket })).toBe("refused");
  });
});
