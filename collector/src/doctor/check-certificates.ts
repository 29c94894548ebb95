import { X509Certificate } from "node:crypto";
import type { TlsConfiguration } from "../config/configuration.ts";
import { readSecretFile } from "../security/secret-file.ts";
import { checkTlsMaterial } from "../security/tls-material.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";
import type { ConfiguredListener } from "./listeners.ts";

const MAX_PEM_BYTES = 1024 * 1024;
const ONE_DAY_MS = 86_400_000;
/** Time to renew one without hurry. */
const SOON_DAYS = 30;

/**
 * Whether the certificates are good now and for a while, and their keys nobody else's to read. That they can be used at
 * all is a question of the configuration, and answered there.
 * @param now milliseconds since the epoch
 */
export function checkCertificates(listeners: readonly ConfiguredListener[], now: number): readonly Finding[] {
  return listeners.flatMap(({ name, tls }) => (tls === undefined ? [] : checkOne(name, tls, now)));
}

function checkOne(
  name: string,
  { certFile, keyFile, clientCaFile }: TlsConfiguration,
  now: number,
): readonly Finding[] {
  try {
    const certificate = readSecretFile(certFile, MAX_PEM_BYTES).content;
    const key = readSecretFile(keyFile, MAX_PEM_BYTES);
    const authorities =
      clientCaFile === undefined
        ? undefined
        : { clientAuthorities: readSecretFile(clientCaFile, MAX_PEM_BYTES).content };
    const { subject, expiresAtMs } = checkTlsMaterial({ certificate, privateKey: key.content, ...authorities });
    const validity = checkValidity(`${name} certificate ${subject}`, certificate, expiresAtMs, now);
    if (!key.isReadableByOthers) return [validity];
    const text = `others than its owner may read the private key ${keyFile}`;
    return [validity, warning("certificate", text, `chmod 600 ${keyFile}`)];
  } catch {
    return [];
  }
}

function checkValidity(what: string, certificate: Buffer, expiresAtMs: number, now: number): Finding {
  const beginsAtMs = new X509Certificate(certificate).validFromDate.getTime();
  if (now < beginsAtMs) {
    const text = `${what} is not valid before ${new Date(beginsAtMs).toISOString()}`;
    return problem("certificate", text, "look at the clock, or use the certificate that is valid now");
  }
  const until = new Date(expiresAtMs).toISOString();
  const advice = "renew it; a running collector takes the new files without a restart";
  if (now > expiresAtMs) return problem("certificate", `${what} expired at ${until}`, advice);
  const days = Math.floor((expiresAtMs - now) / ONE_DAY_MS);
  if (days < SOON_DAYS) return warning("certificate", `${what} expires in ${days} days, at ${until}`, advice);
  return ok("certificate", `${what} is valid until ${until}, and its key belongs to it`);
}
