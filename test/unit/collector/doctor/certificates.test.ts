import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type CertificateRequest, createCertificateAuthority } from "../../../kit/certificates.ts";
import { temporaryDirectory } from "../../../kit/event-file.ts";
import { examined, NOW } from "./examination.ts";

const ONE_DAY_MS = 86_400_000;
const authority = await createCertificateAuthority();

interface Files {
  readonly certFile: string;
  readonly keyFile: string;
}

/** A certificate that is good from a day before now, on these days. */
async function issueFiles(days: readonly [from: number, until: number], keyMode = 0o600): Promise<Files> {
  const request: CertificateRequest = {
    subject: "CN=collector",
    usage: "server",
    notBefore: new Date(NOW + days[0] * ONE_DAY_MS),
    notAfter: new Date(NOW + days[1] * ONE_DAY_MS),
  };
  const { certificate, privateKey } = await authority.issue(request);
  const folder = temporaryDirectory();
  const files = { certFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") };
  writeFileSync(files.certFile, certificate);
  writeFileSync(files.keyFile, privateKey, { mode: keyMode });
  return files;
}

async function findingsFor(tls: Files): Promise<readonly string[]> {
  const findings = await examined({ api: { endpoint: { port: 0 }, tls } });
  expect(JSON.stringify(findings)).not.toContain("PRIVATE KEY-----");
  return findings.filter(({ check }) => check === "certificate").map(({ level, text }) => `${level} ${text}`);
}

describe("a certificate", () => {
  test("that is good is told with its end", async () => {
    const until = new Date(NOW + 90 * ONE_DAY_MS).toISOString();
    expect(await findingsFor(await issueFiles([-1, 90]))).toEqual([
      `ok API certificate CN=collector is valid until ${until}, and its key belongs to it`,
    ]);
  });

  test.each<[string, readonly [number, number], string]>([
    ["that has expired is a problem", [-30, -1], "problem API certificate CN=collector expired at "],
    ["that is not valid yet is a problem", [1, 90], "problem API certificate CN=collector is not valid before "],
    ["that expires soon is a warning", [-30, 10], "warning API certificate CN=collector expires in "],
  ])("%s", async (_what, days, text) => {
    expect(await findingsFor(await issueFiles(days))).toEqual([expect.stringContaining(text)]);
  });

  test("whose key others may read is a warning", async () => {
    const files = await issueFiles([-1, 90], 0o644);
    expect(await findingsFor(files)).toEqual([
      expect.stringContaining("ok API certificate"),
      `warning others than its owner may read the private key ${files.keyFile}`,
    ]);
  });
});
