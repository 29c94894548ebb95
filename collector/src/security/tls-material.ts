import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import type { TlsMaterial } from "./certificates.ts";

/** The material cannot serve a TLS listener. Its text never quotes a key. */
export class CertificateError extends Error {
  constructor(text: string, options?: ErrorOptions) {
    super(text, options);
    this.name = "CertificateError";
  }
}

export interface CheckedMaterial {
  readonly subject: string;
  /** Until when the server's certificate is good. Milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

/**
 * Checks that the material can be used: everything parses, the key belongs to the certificate, the authorities are some.
 * Whether it is good today is not asked here.
 * @throws CertificateError
 */
export function checkTlsMaterial({ certificate, privateKey, clientAuthorities }: TlsMaterial): CheckedMaterial {
  const [server] = parseCertificates("the certificate", certificate);
  if (!server.checkPrivateKey(parseKey(privateKey))) {
    throw new CertificateError("the private key belongs to another certificate");
  }
  if (clientAuthorities !== undefined) {
    for (const authority of parseCertificates("the client authorities", clientAuthorities)) {
      if (!authority.ca) {
        throw new CertificateError(`the client authority ${certificateSubject(authority)} may not sign certificates`);
      }
    }
  }
  return { subject: certificateSubject(server), expiresAtMs: server.validToDate.getTime() };
}

/** The subject on one line, in the order of the certificate: `O=Example, CN=runner`. What would be ambiguous is escaped. */
export function certificateSubject({ subject }: Pick<X509Certificate, "subject">): string {
  return subject.split("\n").join(", ");
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function parseCertificates(what: string, pem: Buffer): readonly [X509Certificate, ...X509Certificate[]] {
  const blocks = pem.toString("latin1").match(PEM_CERTIFICATE) ?? [];
  try {
    const [first, ...others] = blocks.map((block) => new X509Certificate(block));
    if (first !== undefined) return [first, ...others];
  } catch (error) {
    throw new CertificateError(`${what} cannot be read as PEM`, { cause: error });
  }
  throw new CertificateError(`${what}: there is no certificate in PEM`);
}

function parseKey(pem: Buffer): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw new CertificateError("the private key cannot be read as PEM; it must have no passphrase", { cause: error });
  }
}
