import type { ClientCertificate } from "./client-certificate.ts";

/** What a token or a client certificate may be used for. */
export type Scope = "ingest" | "read" | "admin";

/** Who sends a request, and what for. */
export interface Principal {
  /** Name of the token, of the client certificate, or `anonymous`; it is logged and audited, and is no secret. */
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
  /** The sources it may speak for. `undefined`: any. */
  readonly sources: ReadonlySet<string> | undefined;
}

/** What a request shows of who sends it. */
export interface Credentials {
  /** Value of the `authorization` header or metadata entry. */
  readonly authorization: string | undefined;
  /** The client certificate that the listener has verified, where it asks for one. */
  readonly certificate?: ClientCertificate;
}

export type AccessDecision =
  | { readonly allowed: true; readonly principal: Principal }
  /** No credentials, or unknown ones. */
  | { readonly allowed: false; readonly reason: "unauthenticated"; readonly text: string }
  /** They are known, and not for this. */
  | { readonly allowed: false; readonly reason: "forbidden"; readonly principal: Principal; readonly text: string };

/**
 * Says who may do what. A scope that nobody is granted is open to everybody who can reach the listener, save
 * `admin`, which is never open.
 */
export interface AccessControl {
  authorize(scope: Scope, credentials: Credentials): AccessDecision;
}

/** Somebody who showed nothing, where nothing is asked for. */
export const ANONYMOUS: Principal = { name: "anonymous", scopes: new Set(["ingest", "read"]), sources: undefined };

/** For listeners that nobody but this machine reaches, and for tests: everybody may send and read, nobody administer. */
export const OPEN_ACCESS: AccessControl = {
  authorize: (scope) =>
    scope === "admin"
      ? { allowed: false, reason: "unauthenticated", text: "no token with the scope admin is configured" }
      : { allowed: true, principal: ANONYMOUS },
};
