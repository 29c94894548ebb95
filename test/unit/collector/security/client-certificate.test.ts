import { X509Certificate } from "node:crypto";
import {
  type CertificateGrant,
  type ClientCertificate,
  clientCertificateOf,
  createAccessControl,
} from "@agent-lifecycle/collector/parts";
import { describe, expect, it, test } from "vitest";
import { createCertificateAuthority } from "../../../kit/certificates.ts";

const of = (subject: string, subjectAltName?: string): ClientCertificate =>
  clientCertificateOf({ subject, subjectAltName });

/** The name of the entry that a certificate is taken for. */
function takenFor(
  certificate: ClientCertificate,
  ...grants: readonly Omit<CertificateGrant, "name" | "scopes">[]
): string {
  const certificates = grants.map((grant, index) => ({
    ...grant,
    name: `grant ${index}`,
    scopes: ["ingest"] as const,
  }));
  const decision = createAccessControl({ tokens: [], certificates }).authorize("ingest", {
    authorization: undefined,
    certificate,
  });
  return decision.allowed ? decision.principal.name : decision.reason;
}

describe("of a certificate is read", () => {
  it("what a real one says", async () => {
    const authority = await createCertificateAuthority();
    const { certificate } = await authority.issue({
      subject: "O=Example\\, Inc, CN=runner\\+1",
      usage: "client",
      alternativeNames: [
        { type: "dns", value: "Runner.Example" },
        { type: "url", value: "spiffe://example/ns/a,b" },
        { type: "email", value: "runner@example.org" },
      ],
    });
    expect(clientCertificateOf(new X509Certificate(certificate))).toEqual({
      subject: "O=Example\\, Inc, CN=runner\\+1",
      commonName: "runner+1",
      alternativeNames: ["DNS:runner.example", "URI:spiffe://example/ns/a,b", "email:runner@example.org"],
    });
  });

  test.each<[string, string, string | undefined]>([
    ["its one common name", "O=Example\nCN=runner", "runner"],
    ["a common name without its escapes", 'CN=a\\, b\\+c\\\\ \\"d\\"\\20', 'a, b+c\\ "d" '],
    ["no common name where there is none", "O=CN=runner", undefined],
    ["no common name where there are two", "CN=runner\nCN=other", undefined],
    ["no common name that another attribute is joined to", "CN=runner + OU=other", undefined],
    ["no common name that an escaped backslash and a join follow", "CN=runner\\\\ + OU=other", undefined],
  ])("%s", (_what, subject, expected) => {
    expect(of(subject).commonName).toBe(expected);
  });

  test.each<[string, string, readonly string[]]>([
    ["no name of a kind that is not compared", "IP Address:10.0.0.1, othername:UPN:a@b, DirName:CN=x", []],
    [
      "a name in quotes as one name",
      'URI:"http://a\\u002c DNS:evil.example", DNS:b',
      ["URI:http://a, DNS:evil.example", "DNS:b"],
    ],
    ["nothing of what is not understood", "DNS", []],
  ])("%s", (_what, list, expected) => {
    expect(of("CN=a", list).alternativeNames).toEqual(expected);
  });
});

describe("a certificate is taken for", () => {
  const runner = of("O=Example\nCN=runner", "DNS:runner.example, URI:spiffe://example/runner");

  test.each<[string, Omit<CertificateGrant, "name" | "scopes">]>([
    ["its subject", { subject: "O=Example, CN=runner" }],
    ["its common name", { commonName: "runner" }],
    ["one of its alternative names", { alternativeName: "URI:spiffe://example/runner" }],
    ["a DNS name, however it is written", { alternativeName: "DNS:Runner.EXAMPLE" }],
  ])("whoever is granted something by %s", (_what, grant) => {
    expect(takenFor(runner, grant)).toBe("grant 0");
  });

  test.each<[string, Omit<CertificateGrant, "name" | "scopes">]>([
    ["a part of its subject", { subject: "CN=runner" }],
    ["its subject in another order", { subject: "CN=runner, O=Example" }],
    ["its common name in another case", { commonName: "Runner" }],
    ["a beginning of its common name", { commonName: "run" }],
    ["its common name as a DNS name", { alternativeName: "DNS:runner" }],
    ["a pattern", { alternativeName: "DNS:*.example" }],
    ["a beginning of its URI", { alternativeName: "URI:spiffe://example/" }],
    ["a URI in another case", { alternativeName: "URI:spiffe://example/Runner" }],
    ["nothing in particular", {}],
  ])("nobody by %s", (_what, grant) => {
    expect(takenFor(runner, grant)).toBe("forbidden");
  });

  it("the first that it matches", () => {
    expect(takenFor(runner, { subject: "CN=a" }, { commonName: "runner" }, { subject: "O=Example, CN=runner" })).toBe(
      "grant 1",
    );
  });

  it("nobody when what looks like a pattern is in the certificate", () => {
    expect(takenFor(of("CN=a", "DNS:*.example"), { alternativeName: "DNS:runner.example" })).toBe("forbidden");
  });
});
