import { createHash, timingSafeEqual } from "node:crypto";
import {
  type AccessControl,
  type AccessDecision,
  ANONYMOUS,
  type Credentials,
  type Principal,
  type Scope,
} from "./access-control.ts";
import { type CertificateMatch, matches } from "./client-certificate.ts";

/** What a name of the configuration may do. */
export interface Grant {
  /** Names the sender in logs, in the audit and for rate limits; it is no secret. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The sources it may speak for. Without it: any. */
  readonly sources?: readonly string[];
}

export interface TokenGrant extends Grant {
  readonly token: string;
}

/** For the client certificates that it names, whoever shows one of them. */
export interface CertificateGrant extends Grant, CertificateMatch {}

export interface AccessGrants {
  readonly tokens: readonly TokenGrant[];
  /** Client certificates that stand for somebody in particular; the first that matches counts. Default none. */
  readonly certificates?: readonly CertificateGrant[];
}

export interface TokenAccessControl extends AccessControl {
  /**
   * Other grants from now on; requests that are let in already are finished. The grants must have been checked with
   * `grantProblems`.
   */
  replace(grants: AccessGrants): void;
}

interface KnownToken {
  readonly digest: Buffer;
  readonly principal: Principal;
}

interface Known {
  readonly tokens: readonly KnownToken[];
  readonly certificates: readonly { readonly match: CertificateMatch; readonly principal: Principal }[];
  /** Scopes that are granted to somebody; the others are open, save `admin`. */
  readonly guarded: ReadonlySet<Scope>;
}

const MAX_NAME_CHARACTERS = 256;
const BEARER = /^bearer +(\S+) *$/i;
const FORBIDDEN_TEXT: Readonly<Record<Scope, string>> = {
  ingest: "these credentials are not for sending evidence",
  read: "these credentials are not for reading",
  admin: "these credentials are not for administering",
};

/**
 * Access by bearer tokens and client certificates. Of a token only its SHA-256 digest is kept. A presented one is
 * compared with every known one in constant time: how long an answer takes tells neither whether a part of it was right
 * nor which of the known ones it is.
 *
 * A token that is known decides alone; without one the client certificate does. Where a scope is open, credentials that
 * are not known are those of nobody in particular, as they may be meant for somebody on the way.
 */
export function createAccessControl(grants: AccessGrants): TokenAccessControl {
  let known = knownOf(grants);
  return {
    authorize: (scope, credentials) => authorize(known, scope, credentials),
    replace: (replacement) => {
      known = knownOf(replacement);
    },
  };
}

function authorize(known: Known, scope: Scope, credentials: Credentials): AccessDecision {
  const presented = BEARER.exec(credentials.authorization ?? "")?.[1];
  const byToken = presented === undefined ? undefined : ownerOf(presented, known.tokens);
  const isOpen = scope !== "admin" && !known.guarded.has(scope);
  // Whoever shows a token that is none does not get in by what else is shown, unless everybody does.
  const principal = byToken ?? (presented === undefined || isOpen ? byCertificate(known, credentials) : undefined);
  if (principal?.scopes.has(scope) === true || isOpen) {
    return { allowed: true, principal: principal ?? ANONYMOUS };
  }
  if (principal === undefined) {
    const text =
      scope === "admin" && !known.guarded.has("admin")
        ? "no token with the scope admin is configured"
        : "this needs a bearer token, or a client certificate that stands for somebody";
    return { allowed: false, reason: "unauthenticated", text };
  }
  return { allowed: false, reason: "forbidden", principal, text: FORBIDDEN_TEXT[scope] };
}

function ownerOf(presented: string, tokens: readonly KnownToken[]): Principal | undefined {
  const digest = digestOf(presented);
  let owner: Principal | undefined;
  for (const token of tokens) if (timingSafeEqual(digest, token.digest)) owner = token.principal;
  return owner;
}

/** A verified certificate without a grant has nobody's rights, and keeps its name. */
function byCertificate(known: Known, { certificate }: Credentials): Principal | undefined {
  if (certificate === undefined) return undefined;
  const granted = known.certificates.find(({ match }) => matches(match, certificate));
  if (granted !== undefined) return granted.principal;
  return { name: certificate.subject.slice(0, MAX_NAME_CHARACTERS), scopes: new Set(), sources: undefined };
}

function knownOf({ tokens, certificates = [] }: AccessGrants): Known {
  return {
    tokens: tokens.map((grant) => ({ digest: digestOf(grant.token), principal: principalOf(grant) })),
    certificates: certificates.map((grant) => ({ match: grant, principal: principalOf(grant) })),
    guarded: new Set([...tokens, ...certificates].flatMap(({ scopes }) => scopes)),
  };
}

function principalOf({ name, scopes, sources }: Grant): Principal {
  return { name, scopes: new Set(scopes), sources: sources === undefined ? undefined : new Set(sources) };
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
