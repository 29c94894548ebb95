import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { SnapshotLook } from "./snapshot-look.ts";

/** Answers one request of `node:http`. Never throws. */
export type SnapshotHandler = (request: IncomingMessage, response: ServerResponse) => void;

export interface SnapshotHandlerOptions {
  /** `undefined`: the host decides who may ask, before it calls the handler. */
  readonly token: string | undefined;
  /** What can be told now; `undefined` when nothing is told any more. */
  readonly look: () => SnapshotLook | undefined;
  readonly onError: (error: unknown) => void;
}

const COMMON_HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
} as const;

const BEARER = /^bearer +(\S+) *$/i;

/** GET and HEAD, with entity tags. Nothing of a request's body is read. */
export function createSnapshotHandler({ token, look, onError }: SnapshotHandlerOptions): SnapshotHandler {
  const expected = token === undefined ? undefined : digestOf(token);
  return (request, response) => {
    try {
      const { method, headers } = request;
      if (expected !== undefined && !isToken(headers.authorization, expected)) {
        refuse(request, response, 401, { "www-authenticate": "Bearer" });
        return;
      }
      if (method !== "GET" && method !== "HEAD") {
        refuse(request, response, 405, { allow: "GET, HEAD" });
        return;
      }
      const seen = look();
      if (seen === undefined) {
        refuse(request, response, 503, { "retry-after": "1" });
        return;
      }
      answer(request, response, seen);
    } catch (error) {
      onError(error);
      // Half an answer is none.
      if (response.headersSent) response.destroy();
      else refuse(request, response, 500, {});
    }
  };
}

function answer(request: IncomingMessage, response: ServerResponse, { body, entityTag }: SnapshotLook): void {
  const headers = { ...COMMON_HEADERS, etag: entityTag };
  if (isKnown(request.headers["if-none-match"], entityTag)) {
    response.writeHead(304, headers).end();
    return;
  }
  response.writeHead(200, { ...headers, "content-type": "application/json", "content-length": body.length });
  if (request.method === "HEAD") response.end();
  else response.end(body);
}

/** A connection whose request may have a body that nobody reads is not used again. */
function refuse(
  { method }: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
): void {
  const hasBody = method !== "GET" && method !== "HEAD";
  const closing = hasBody ? { connection: "close" } : undefined;
  response.writeHead(status, { ...COMMON_HEADERS, ...headers, ...closing, "content-length": 0 }).end();
}

function isKnown(stated: string | undefined, entityTag: string): boolean {
  return stated?.split(",").some((tag) => tag.trim().replace(/^W\//, "") === entityTag) === true;
}

function isToken(authorization: string | undefined, expected: Buffer): boolean {
  const presented = BEARER.exec(authorization ?? "")?.[1];
  return presented !== undefined && timingSafeEqual(digestOf(presented), expected);
}

/** Digests have one length, and comparing them tells nothing of how much of a token was right. */
function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
