// Must come first.
import "./reflect-metadata.ts";
import { webcrypto } from "node:crypto";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";

cryptoProvider.set(webcrypto as unknown as Parameters<typeof cryptoProvider.set>[0]);

const SIGNATURE = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const ONE_DAY_MS = 86_400_000;

/** A certificate and its key, in PEM. */
export interface IssuedCertificate {
  readonly certificate: string;
  readonly privateKey: string;
}

export interface CertificateRequest {
  /** Distinguished name, as in `O=Example, CN=runner`. */
  readonly subject: string;
  readonly usage: "server" | "client";
  /** Further names of a client. Default none. */
  readonly alternativeNames?: readonly { readonly type: "dns" | "url" | "email"; readonly value: string }[];
  /** Default: from yesterday until tomorrow. */
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

/** A certificate authority that exists as long as a test does. */
export interface CertificateAuthority {
  /** Its own certificate, in PEM. */
  readonly certificate: string;
  /** Issues a certificate; one for a server is good for `localhost`, 127.0.0.1 and ::1. */
  issue(request: CertificateRequest): Promise<IssuedCertificate>;
}

export async function createCertificateAuthority(name = "Test Authority"): Promise<CertificateAuthority> {
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: `CN=${name}`,
    ...validity({}),
    signingAlgorithm: SIGNATURE,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 1, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return {
    certificate: certificate.toString("pem"),
    issue: (request) => issue(certificate, keys.privateKey, request),
  };
}

async function issue(
  authority: X509Certificate,
  signingKey: webcrypto.CryptoKey,
  request: CertificateRequest,
): Promise<IssuedCertificate> {
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    issuer: authority.subject,
    subject: request.subject,
    ...validity(request),
    signingAlgorithm: SIGNATURE,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      await AuthorityKeyIdentifierExtension.create(authority.publicKey),
      ...extensionsFor(request),
    ],
  });
  const privateKey = PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY");
  return { certificate: certificate.toString("pem"), privateKey };
}

function extensionsFor({ usage, alternativeNames = [] }: CertificateRequest): readonly Extension[] {
  if (usage === "client") {
    const names = alternativeNames.length === 0 ? [] : [new SubjectAlternativeNameExtension([...alternativeNames])];
    return [new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth]), ...names];
  }
  return [
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
    new SubjectAlternativeNameExtension([
      { type: "dns", value: "localhost" },
      { type: "ip", value: "127.0.0.1" },
      { type: "ip", value: "::1" },
    ]),
  ];
}

function validity({ notBefore, notAfter }: Pick<CertificateRequest, "notBefore" | "notAfter">): {
  readonly notBefore: Date;
  readonly notAfter: Date;
} {
  return {
    notBefore: notBefore ?? new Date(Date.now() - ONE_DAY_MS),
    notAfter: notAfter ?? new Date(Date.now() + ONE_DAY_MS),
  };
}

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(SIGNATURE, true, ["sign", "verify"]) as Promise<webcrypto.CryptoKeyPair>;
}

/** Serial numbers are positive; the library reads this one as hexadecimal. */
function serialNumber(): string {
  return `01${Buffer.from(webcrypto.getRandomValues(new Uint8Array(8))).toString("hex")}`;
}
