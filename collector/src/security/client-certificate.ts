import type { X509Certificate } from "node:crypto";
import { isAlternativeName } from "../config/alternative-name.ts";
import { certificateSubject } from "./tls-material.ts";

/** What a client certificate that the listener has verified says of whom it stands for. */
export interface ClientCertificate {
  /** As `certificateSubject` writes it. */
  readonly subject: string;
  /** Without the escapes of the subject. `undefined` when it has none, several, or one that is joined to something else. */
  readonly commonName: string | undefined;
  /** Those of the kinds `DNS:`, `URI:` and `email:`, with their kind; DNS names in lower case. */
  readonly alternativeNames: readonly string[];
}

/** Exactly one of the three. */
export interface CertificateMatch {
  /** The whole subject, as `certificateSubject` writes it. */
  readonly subject?: string;
  readonly commonName?: string;
  /** One subject alternative name with its kind: `DNS:…`, `URI:…` or `email:…`. */
  readonly alternativeName?: string;
}

export function clientCertificateOf(
  certificate: Pick<X509Certificate, "subject" | "subjectAltName">,
): ClientCertificate {
  return {
    subject: certificateSubject(certificate),
    commonName: commonNameOf(certificate.subject),
    alternativeNames: alternativeNamesOf(certificate.subjectAltName ?? "").map(normalAlternativeName),
  };
}

/** By equality alone: a name in a certificate that looks like a pattern is a name. */
export function matches(
  { subject, commonName, alternativeName }: CertificateMatch,
  certificate: ClientCertificate,
): boolean {
  if (subject !== undefined) return certificate.subject === subject;
  if (commonName !== undefined) return certificate.commonName === commonName;
  return alternativeName !== undefined && certificate.alternativeNames.includes(normalAlternativeName(alternativeName));
}

function normalAlternativeName(name: string): string {
  return name.startsWith("DNS:") ? name.toLowerCase().replace("dns:", "DNS:") : name;
}

/** One attribute a line; what could be taken for the syntax itself is escaped (RFC 2253, section 2.4). */
function commonNameOf(subject: string): string | undefined {
  const [only, ...others] = subject.split("\n").filter((line) => line.startsWith("CN="));
  if (only === undefined || others.length > 0) return undefined;
  const value = only.slice("CN=".length);
  // ` + ` that is not escaped joins another attribute to it.
  if (/(?:^|[^\\])(?:\\\\)*\+/.test(value)) return undefined;
  return value.replaceAll(/\\([0-9A-Fa-f]{2}|.)/gsu, (_escape, escaped: string) =>
    escaped.length === 2 ? String.fromCharCode(Number.parseInt(escaped, 16)) : escaped,
  );
}

/** A value that holds a comma, a quote or the like is written as a JSON string. */
const NAME = /([A-Za-z][A-Za-z ]*):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/gy;

function alternativeNamesOf(list: string): readonly string[] {
  const names: string[] = [];
  for (const [, kind = "", value = ""] of list.matchAll(NAME)) {
    const text: unknown = value.startsWith('"') ? JSON.parse(value) : value;
    const name = `${kind}:${String(text)}`;
    if (isAlternativeName(name)) names.push(name);
  }
  return names;
}
