import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CertificateError,
  createFileCertificates,
  type FileCertificateOptions,
  type FileCertificates,
  SecretFileError,
} from "@agent-lifecycle/collector/parts";
import { beforeAll, describe, expect, it, onTestFinished, test } from "vitest";
import {
  type CertificateAuthority,
  createCertificateAuthority,
  type IssuedCertificate,
} from "../../../kit/certificates.ts";
import { temporaryDirectory } from "../../../kit/event-file.ts";
import { ManualPace } from "../runtime/manual-pace.ts";

const ONE_DAY_MS = 86_400_000;
const SERVER = { subject: "CN=localhost", usage: "server" } as const;

let authority: CertificateAuthority;
let first: IssuedCertificate;
let second: IssuedCertificate;
let expired: IssuedCertificate;
let lasting: IssuedCertificate;

beforeAll(async () => {
  authority = await createCertificateAuthority();
  const now = Date.now();
  [first, second, expired, lasting] = await Promise.all([
    authority.issue(SERVER),
    authority.issue({ ...SERVER, subject: "CN=second" }),
    authority.issue({ ...SERVER, notBefore: new Date(now - 2 * ONE_DAY_MS), notAfter: new Date(now - ONE_DAY_MS) }),
    authority.issue({ ...SERVER, notAfter: new Date(now + 100 * ONE_DAY_MS) }),
  ]);
});

interface Fixture {
  readonly options: FileCertificateOptions;
  readonly pace: ManualPace;
  readonly logged: string[];
  write(certificate: Partial<IssuedCertificate>): void;
  /** What was logged since the last call. */
  takeLogged(): readonly string[];
}

function fixture(certificate: IssuedCertificate, now: () => number = Date.now): Fixture {
  const folder = temporaryDirectory();
  const pace = new ManualPace();
  const logged: string[] = [];
  const [certFile, keyFile] = [join(folder, "server.pem"), join(folder, "server.key")];
  const log = (level: string) => (members: object, message: string) =>
    void logged.push(`${level}: ${message} ${JSON.stringify(members)}`);
  const write = (written: Partial<IssuedCertificate>): void => {
    if (written.certificate !== undefined) writeFileSync(certFile, written.certificate);
    if (written.privateKey !== undefined) writeFileSync(keyFile, written.privateKey, { mode: 0o600 });
  };
  write(certificate);
  return {
    options: { certFile, keyFile, now, schedule: pace.schedule, log: { info: log("info"), error: log("error") } },
    pace,
    logged,
    write,
    takeLogged: () => logged.splice(0),
  };
}

function certificateInForce(source: FileCertificates): string {
  return source.current().certificate.toString();
}

describe("files that cannot be used stop the start, in words", () => {
  test.each<[string, (written: Fixture) => void, RegExp]>([
    ["no certificate", ({ options }) => rmSync(options.certFile), /cannot read .*server\.pem \(ENOENT\)/],
    ["no key", ({ options }) => rmSync(options.keyFile), /cannot read .*server\.key \(ENOENT\)/],
    ["an empty certificate", ({ write }) => write({ certificate: "" }), /no certificate in PEM/],
    ["a broken certificate", ({ write }) => write({ certificate: first.certificate.replace(/M/g, "N") }), /as PEM/],
    ["a broken key", ({ write }) => write({ privateKey: "no key" }), /private key cannot be read/],
    ["the key of another", ({ write }) => write({ privateKey: second.privateKey }), /belongs to another certificate/],
    ["a key where the certificate is expected", ({ write }) => write({ certificate: first.privateKey }), /no certif/],
  ])("%s", (_name, spoil, expected) => {
    const files = fixture(first);
    spoil(files);
    const create = () => createFileCertificates(files.options);
    expect(create).toThrow(expected);
    expect(create).not.toThrow(/BEGIN|MIG/);
  });

  it("client authorities that may not sign", () => {
    const files = fixture(first);
    const clientCaFile = join(temporaryDirectory(), "clients.pem");
    writeFileSync(clientCaFile, `${authority.certificate}\n${second.certificate}`);
    const create = () => createFileCertificates({ ...files.options, clientCaFile });
    expect(create).toThrow(CertificateError);
    expect(create).toThrow("the client authority CN=second may not sign certificates");
    writeFileSync(clientCaFile, authority.certificate);
    expect(create().current().clientAuthorities?.toString()).toBe(authority.certificate);
  });

  it("files without bounds", () => {
    const files = fixture(first);
    files.write({ certificate: "a".repeat(1024 * 1024 + 1) });
    expect(() => createFileCertificates(files.options)).toThrow(SecretFileError);
  });
});

it("is told when others can read the key", () => {
  const files = fixture(first);
  chmodSync(files.options.keyFile, 0o644);
  createFileCertificates(files.options);
  expect(files.logged.join()).toContain("others than its owner can read the private key");
});

describe("a replaced certificate", () => {
  it("comes into force at the next look, and the listeners hear of it", async () => {
    const files = fixture(lasting);
    const source = createFileCertificates(files.options);
    const heard: string[] = [];
    const unsubscribe = source.subscribe(({ certificate }) => heard.push(certificate.toString()));
    await source.start();
    onTestFinished(() => source.shutdown());
    files.pace.fire();
    expect(heard).toEqual([]);

    files.write(second);
    files.pace.fire();
    expect(certificateInForce(source)).toBe(second.certificate);
    expect(heard).toEqual([second.certificate]);

    unsubscribe();
    files.write(lasting);
    expect(source.reload()).toBe("replaced");
    expect(source.reload()).toBe("unchanged");
    expect(heard).toHaveLength(1);
  });

  it("that is broken leaves the old one in force, is told once, and is taken when it is repaired", async () => {
    const files = fixture(lasting);
    const source = createFileCertificates(files.options);
    files.takeLogged();
    // As a tool does that replaces one file after the other.
    files.write({ certificate: second.certificate });
    expect([source.reload(), source.reload()]).toEqual(["kept", "kept"]);
    expect(certificateInForce(source)).toBe(lasting.certificate);
    expect(files.takeLogged()).toEqual([
      'error: the certificates were not replaced {"reason":"the private key belongs to another certificate"}',
    ]);
    files.write({ privateKey: second.privateKey });
    expect(source.reload()).toBe("replaced");
    expect(files.takeLogged().join()).toContain("the certificates were replaced");
  });

  it("that has expired replaces none that is better", () => {
    const files = fixture(lasting);
    const source = createFileCertificates(files.options);
    files.write(expired);
    expect(source.reload()).toBe("kept");
    expect(files.takeLogged().join()).toContain("the certificate has expired");
  });

  it("is looked for no more after the shutdown", async () => {
    const files = fixture(lasting);
    const source = createFileCertificates(files.options);
    await source.start();
    await source.shutdown();
    await source.shutdown();
    expect(files.pace.plannedMs).toBeUndefined();
  });
});

describe("a certificate that ends", () => {
  it("is told two weeks before, and once more when it has", () => {
    let now = Date.now();
    const files = fixture(lasting, () => now);
    const source = createFileCertificates(files.options);
    expect(files.takeLogged()).toEqual([]);
    now += 87 * ONE_DAY_MS;
    source.reload();
    source.reload();
    expect(files.takeLogged()).toHaveLength(1);
    now += 14 * ONE_DAY_MS;
    source.reload();
    source.reload();
    expect(files.takeLogged().map((line) => line.split(" {")[0])).toEqual([
      "error: the certificate has expired: clients refuse it",
    ]);
  });

  it("and has ended already is told at the start, which it does not stop", () => {
    const files = fixture(expired);
    expect(certificateInForce(createFileCertificates(files.options))).toBe(expired.certificate);
    expect(files.takeLogged().join()).toContain("has expired");
  });
});
