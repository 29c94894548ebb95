import { writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Finding } from "@agent-lifecycle/collector/parts";
import { describe, expect, onTestFinished, test } from "vitest";
import { createCertificateAuthority, type IssuedCertificate } from "../../../kit/certificates.ts";
import { temporaryDirectory } from "../../../kit/event-file.ts";
import { examined } from "./examination.ts";

const authority = await createCertificateAuthority();
const METRICS = "agent_lifecycle_queue_bytes 5\nagent_lifecycle_input_log_position 7\n";
const TOKEN = "0123456789abcdef0123456789abcdef";

function issue(): Promise<IssuedCertificate> {
  return authority.issue({
    subject: "CN=collector",
    usage: "server",
    notBefore: new Date(Date.now() - 86_400_000),
    notAfter: new Date(Date.now() + 86_400_000),
  });
}

/** What answers as a collector does over TLS, with this certificate; and what it was shown. */
async function listen({ certificate, privateKey }: IssuedCertificate): Promise<{ port: number; shown: string[] }> {
  const shown: string[] = [];
  const answers: Readonly<Record<string, string>> = {
    "/healthz": '{"status":"ok"}',
    "/readyz": '{"ready":true}',
    "/metrics": METRICS,
  };
  const server = createServer({ cert: certificate, key: privateKey }, (request, response) => {
    shown.push(`${request.url} ${request.headers.authorization ?? "without a token"}`);
    response.end(answers[request.url ?? ""]);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, shown };
}

async function examineWith(configured: IssuedCertificate, port: number, clientCa = false): Promise<readonly Finding[]> {
  const folder = temporaryDirectory();
  const tls = { certFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") };
  writeFileSync(tls.certFile, configured.certificate);
  writeFileSync(tls.keyFile, configured.privateKey, { mode: 0o600 });
  const clientCaFile = join(folder, "ca.pem");
  writeFileSync(clientCaFile, authority.certificate);
  const findings = await examined(
    { api: { endpoint: { port }, tls: clientCa ? { ...tls, clientCaFile } : tls } },
    { readToken: TOKEN },
  );
  expect(JSON.stringify(findings)).not.toContain(TOKEN);
  return findings;
}

describe("a collector behind TLS", () => {
  test("is asked when it shows the configured certificate", async () => {
    const issued = await issue();
    const { port, shown } = await listen(issued);
    const findings = await examineWith(issued, port);
    expect(findings).toContainEqual({
      check: "queue",
      level: "ok",
      text: "5 bytes received and not yet durable; the newest input is 7",
    });
    expect(shown).toEqual(["/healthz without a token", "/readyz without a token", `/metrics Bearer ${TOKEN}`]);
  });

  test("is not taken for one, and is shown nothing, when it shows another", async () => {
    const { port, shown } = await listen(await issue());
    const findings = await examineWith(await issue(), port);
    expect(findings).toContainEqual(expect.objectContaining({ check: "port", level: "problem" }));
    expect(findings).toContainEqual({ check: "collector", level: "ok", text: "none runs at the API address" });
    expect(shown).toEqual([]);
  });

  test("cannot be asked when it demands client certificates, which is told", async () => {
    const { port } = await listen(await issue());
    const findings = await examineWith(await issue(), port, true);
    expect(findings).toContainEqual(
      expect.objectContaining({
        check: "port",
        level: "warning",
        text: expect.stringContaining("demands client certificates and cannot be asked"),
      }),
    );
  });
});
