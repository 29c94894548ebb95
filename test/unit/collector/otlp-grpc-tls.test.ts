import { once } from "node:events";
import { connect } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { AccessControl, CertificateSource, OtlpGrpcReceiver, TlsMaterial } from "@agent-lifecycle/collector/parts";
import { credentials, status as STATUS } from "@grpc/grpc-js";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type CertificateAuthority,
  createCertificateAuthority,
  type IssuedCertificate,
} from "../../kit/certificates.ts";
import { makeEvent } from "../../kit/events.ts";
import { exportMessage, grpcClient, startGrpc } from "./grpc-fixture.ts";
import { otlpBody } from "./ingest-fixture.ts";
import { ScriptedIntake } from "./scripted-intake.ts";

const message = otlpBody("protobuf", [makeEvent({ childId: "a", state: "created", sequence: 1 })]);

/** Certificates that a test replaces. */
class ReplaceableCertificates implements CertificateSource {
  #material: TlsMaterial;
  readonly listeners = new Set<(material: TlsMaterial) => void>();

  constructor(material: TlsMaterial) {
    this.#material = material;
  }

  current(): TlsMaterial {
    return this.#material;
  }

  subscribe(listener: (material: TlsMaterial) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  replace(material: TlsMaterial): void {
    this.#material = material;
    for (const listener of this.listeners) listener(material);
  }
}

async function serverMaterial(authority: CertificateAuthority, clients?: CertificateAuthority): Promise<TlsMaterial> {
  const { certificate, privateKey } = await authority.issue({ subject: "CN=collector", usage: "server" });
  const clientAuthorities = clients === undefined ? undefined : { clientAuthorities: Buffer.from(clients.certificate) };
  return { certificate: Buffer.from(certificate), privateKey: Buffer.from(privateKey), ...clientAuthorities };
}

function tlsCredentials({ certificate }: CertificateAuthority, client?: IssuedCertificate) {
  const key = client === undefined ? null : Buffer.from(client.privateKey);
  const chain = client === undefined ? null : Buffer.from(client.certificate);
  return credentials.createSsl(Buffer.from(certificate), key, chain);
}

function issueClient(authority: CertificateAuthority): Promise<IssuedCertificate> {
  return authority.issue({ subject: "O=Example, CN=runner", usage: "client" });
}

describe("OTLP/gRPC over TLS", () => {
  it("is spoken, and nothing else is", async () => {
    const authority = await createCertificateAuthority();
    const receiver = await startGrpc(new ScriptedIntake(), {
      tls: new ReplaceableCertificates(await serverMaterial(authority)),
    });
    expect(receiver.endpoint()).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(await exportMessage(grpcClient(receiver, tlsCredentials(authority)), message)).toMatchObject({
      code: STATUS.OK,
    });
    const others = await createCertificateAuthority("Other Authority");
    for (const wrong of [credentials.createInsecure(), tlsCredentials(others)]) {
      expect(await exportMessage(grpcClient(receiver, wrong), message)).toMatchObject({ code: STATUS.UNAVAILABLE });
    }
  });

  it("gives a client that begins no handshake only so long", async () => {
    const receiver = await startGrpc(new ScriptedIntake(), {
      tls: new ReplaceableCertificates(await serverMaterial(await createCertificateAuthority())),
      handshakeTimeoutMs: 100,
    });
    const { hostname, port } = new URL(receiver.endpoint());
    const socket = connect({ host: hostname, port: Number(port) });
    onTestFinished(() => void socket.destroy());
    socket.resume();
    await once(socket, "close");
  });

  it("uses new certificates for new connections, and finishes open ones with the old", async () => {
    const [before, after] = [await createCertificateAuthority(), await createCertificateAuthority("Next Authority")];
    const certificates = new ReplaceableCertificates(await serverMaterial(before));
    const receiver = await startGrpc(new ScriptedIntake(), { tls: certificates });
    const open = grpcClient(receiver, tlsCredentials(before));
    expect(await exportMessage(open, message)).toMatchObject({ code: STATUS.OK });
    certificates.replace(await serverMaterial(after));
    expect(await exportMessage(open, message)).toMatchObject({ code: STATUS.OK });
    expect(await exportMessage(grpcClient(receiver, tlsCredentials(after)), message)).toMatchObject({
      code: STATUS.OK,
    });
    expect(await exportMessage(grpcClient(receiver, tlsCredentials(before)), message)).toMatchObject({
      code: STATUS.UNAVAILABLE,
    });
  });

  it("stays with the old certificates when the new ones are none, and says so", async () => {
    const authority = await createCertificateAuthority();
    const certificates = new ReplaceableCertificates(await serverMaterial(authority));
    const faults: unknown[] = [];
    const receiver = await startGrpc(new ScriptedIntake(), {
      tls: certificates,
      onError: (error) => faults.push(error),
    });
    certificates.replace({ certificate: Buffer.from("none"), privateKey: Buffer.from("none") });
    expect(faults).toHaveLength(1);
    expect(await exportMessage(grpcClient(receiver, tlsCredentials(authority)), message)).toMatchObject({
      code: STATUS.OK,
    });
  });

  it("hears of replacements only as long as it runs", async () => {
    const certificates = new ReplaceableCertificates(await serverMaterial(await createCertificateAuthority()));
    const receiver = await startGrpc(new ScriptedIntake(), { tls: certificates });
    expect(certificates.listeners.size).toBe(1);
    await receiver.shutdown();
    expect(certificates.listeners.size).toBe(0);
  });
});

describe("OTLP/gRPC with client certificates", () => {
  async function startMutual(access?: AccessControl) {
    const authority = await createCertificateAuthority();
    const certificates = new ReplaceableCertificates(await serverMaterial(authority, authority));
    const intake = new ScriptedIntake();
    const options = { tls: certificates, ...(access === undefined ? undefined : { access }) };
    return { authority, certificates, intake, receiver: await startGrpc(intake, options) };
  }

  it("knows the sender by the subject of its certificate", async () => {
    const subjects: unknown[] = [];
    const { authority, receiver, intake } = await startMutual({
      authorize: (scope, { certificate }) => {
        subjects.push(certificate?.subject);
        const principal = { name: "runner", scopes: new Set([scope]), sources: new Set(["runner-1"]) };
        return { allowed: true, principal };
      },
    });
    const client = grpcClient(receiver, tlsCredentials(authority, await issueClient(authority)));
    expect(await exportMessage(client, message)).toMatchObject({ code: STATUS.OK });
    expect(subjects).toEqual(["O=Example, CN=runner"]);
    expect(intake.received[0]?.origin.allowedSources).toEqual(new Set(["runner-1"]));
  });

  it("lets nobody in who shows none, or one of another authority", async () => {
    const { authority, receiver, intake } = await startMutual();
    const others = await createCertificateAuthority("Other Authority");
    for (const certificate of [undefined, await issueClient(others)]) {
      const client = grpcClient(receiver, tlsCredentials(authority, certificate));
      expect(await exportMessage(client, message)).toMatchObject({ code: STATUS.UNAVAILABLE });
    }
    expect(intake.received).toEqual([]);
  });

  it("forgets an authority that is replaced, also for sessions that were begun under it", async () => {
    const { authority, certificates, receiver } = await startMutual();
    const client = await issueClient(authority);
    const session = await tlsSession(receiver, authority, client);
    const next = await createCertificateAuthority("Next Authority");
    certificates.replace(await serverMaterial(authority, next));
    const resumed = grpcClient(receiver, tlsCredentials(authority, client));
    expect(await exportMessage(resumed, message)).toMatchObject({ code: STATUS.UNAVAILABLE });
    const socket = connectTls({ ...tlsOptions(receiver, authority), session });
    onTestFinished(() => void socket.destroy());
    const failed = once(socket, "end");
    socket.resume();
    await expect(failed).rejects.toMatchObject({ code: "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED" });
  });
});

function tlsOptions(receiver: OtlpGrpcReceiver, { certificate }: CertificateAuthority, client?: IssuedCertificate) {
  const { hostname, port } = new URL(receiver.endpoint());
  const own = client === undefined ? undefined : { cert: client.certificate, key: client.privateKey };
  return { host: hostname, port: Number(port), ca: certificate, ALPNProtocols: ["h2"], ...own };
}

/** The session of a connection that was let in, with which a client would come back. */
async function tlsSession(
  receiver: OtlpGrpcReceiver,
  authority: CertificateAuthority,
  client: IssuedCertificate,
): Promise<Buffer> {
  const socket: TLSSocket = connectTls(tlsOptions(receiver, authority, client));
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  socket.resume();
  const [session] = (await once(socket, "session")) as [Buffer];
  return session;
}
