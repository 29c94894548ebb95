import { isAlternativeName } from "../config/alternative-name.ts";
import type { AccessGrants, CertificateGrant, Grant } from "./token-access.ts";

/** What is wrong with a grant, or only unwise. Never quotes a token. */
export interface GrantProblem {
  /** `tokens.deploy`, `certificates.runner`. */
  readonly path: string;
  readonly text: string;
  /** `error`: the grants cannot be used. */
  readonly severity: "error" | "warning";
}

/** Every request is compared with every token. */
const MAX_TOKENS = 256;
const MAX_NAME_CHARACTERS = 256;
const MAX_TOKEN_CHARACTERS = 1_024;
/** Below it a token is told to be weak. 20 random hexadecimal characters have 80 bits. */
const MIN_TOKEN_BITS = 64;

/** Finds everything that is wrong with grants, not only the first thing. */
export function grantProblems({ tokens, certificates = [] }: AccessGrants): readonly GrantProblem[] {
  const problems: GrantProblem[] = [];
  const report = (path: string, text: string, severity: GrantProblem["severity"] = "error"): void => {
    problems.push({ path, text, severity });
  };
  if (tokens.length > MAX_TOKENS) report("tokens", `there are more than ${MAX_TOKENS}`);
  const names = new Set<string>();
  const values = new Set<string>();
  const subjects = new Set<string>();
  for (const grant of tokens) {
    const path = `tokens.${grant.name}`;
    checkGrant(path, grant, names, report);
    if (values.has(grant.token)) report(path, "has the same token as another one");
    values.add(grant.token);
    checkToken(path, grant.token, report);
  }
  for (const grant of certificates) {
    const path = `certificates.${grant.name}`;
    checkGrant(path, grant, names, report);
    const stated = [grant.subject, grant.commonName, grant.alternativeName].filter((name) => name !== undefined);
    if (stated.length !== 1) report(path, "needs exactly one of subject, common name and alternative name");
    if (stated.includes("")) report(path, "names nobody");
    if (grant.alternativeName !== undefined && !isAlternativeName(grant.alternativeName)) {
      report(path, "its alternative name must begin with `DNS:`, `URI:` or `email:`");
    }
    const name = certificateKey(grant);
    if (subjects.has(name)) report(path, "names the same certificates as another one");
    subjects.add(name);
  }
  return problems;
}

/** Equal for grants that name the same certificates. */
function certificateKey({ subject, commonName, alternativeName }: CertificateGrant): string {
  return JSON.stringify([subject, commonName, alternativeName]);
}

type Report = (path: string, text: string, severity?: GrantProblem["severity"]) => void;

function checkGrant(path: string, { name, scopes, sources }: Grant, names: Set<string>, report: Report): void {
  if (name.length === 0 || name.length > MAX_NAME_CHARACTERS || /\p{Cc}/u.test(name)) {
    report(path, `its name must have 1 to ${MAX_NAME_CHARACTERS} characters, and no control characters`);
  }
  if (names.has(name)) report(path, "has the same name as another one: the audit could not tell them apart");
  names.add(name);
  if (scopes.length === 0) report(path, "has no scope: name one of ingest, read, admin");
  if (sources?.length === 0) report(path, "may speak for no source: name some, or leave `sources` out for any");
  if (sources !== undefined && !scopes.includes("ingest")) {
    report(path, "names sources, which mean nothing without the scope ingest", "warning");
  }
}

function checkToken(path: string, token: string, report: Report): void {
  if (token === "") report(path, "is empty");
  else if (!/^[\x21-\x7e]+$/.test(token)) report(path, "must be of visible ASCII characters: no other can be sent");
  else if (token.length > MAX_TOKEN_CHARACTERS) report(path, `is longer than ${MAX_TOKEN_CHARACTERS} characters`);
  else if (mostBitsOf(token) < MIN_TOKEN_BITS) {
    report(path, "is easy to guess: make one with `openssl rand -hex 32`", "warning");
  }
}

/** The Shannon entropy of its characters: what it has at most, as if each had been drawn by itself. */
function mostBitsOf(token: string): number {
  const counts = new Map<string, number>();
  for (const character of token) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= count * Math.log2(count / token.length);
  return bits;
}
