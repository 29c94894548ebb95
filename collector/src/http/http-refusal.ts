import { RPC_CODES } from "@agent-lifecycle/proto";

export type RefusalReason =
  | "malformed"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "method_not_allowed"
  | "aborted"
  | "conflict"
  | "too_large"
  | "unsupported_media"
  | "invalid_content"
  | "rate_limited"
  | "headers_too_large"
  | "internal"
  | "unavailable"
  | "overloaded";

interface RefusalKind {
  readonly statusCode: number;
  /** The canonical code that OTLP clients read. */
  readonly rpcCode: number;
  readonly title: string;
}

const NOT_FOUND = 5;
const ABORTED = 10;

/** Every way in which a request is refused, with what it is called in HTTP, in google.rpc, and by people. */
const KINDS: Readonly<Record<RefusalReason, RefusalKind>> = {
  malformed: { statusCode: 400, rpcCode: RPC_CODES.invalidArgument, title: "Malformed request" },
  unauthorized: { statusCode: 401, rpcCode: RPC_CODES.unauthenticated, title: "A bearer token is required" },
  forbidden: { statusCode: 403, rpcCode: RPC_CODES.permissionDenied, title: "Not allowed" },
  not_found: { statusCode: 404, rpcCode: NOT_FOUND, title: "Not found" },
  method_not_allowed: { statusCode: 405, rpcCode: RPC_CODES.unimplemented, title: "Method not allowed" },
  aborted: { statusCode: 408, rpcCode: RPC_CODES.invalidArgument, title: "The request was not sent to its end" },
  conflict: { statusCode: 409, rpcCode: ABORTED, title: "Not in this state" },
  too_large: { statusCode: 413, rpcCode: RPC_CODES.resourceExhausted, title: "Request too large" },
  unsupported_media: { statusCode: 415, rpcCode: RPC_CODES.invalidArgument, title: "Unsupported media type" },
  invalid_content: { statusCode: 422, rpcCode: RPC_CODES.invalidArgument, title: "The content breaks the contract" },
  // A code that clients take for final, but the answer carries RetryInfo, and then they come back.
  rate_limited: { statusCode: 429, rpcCode: RPC_CODES.resourceExhausted, title: "Too many requests; try again" },
  headers_too_large: { statusCode: 431, rpcCode: RPC_CODES.invalidArgument, title: "Request headers too large" },
  internal: { statusCode: 500, rpcCode: RPC_CODES.internal, title: "Internal error" },
  unavailable: { statusCode: 503, rpcCode: RPC_CODES.unavailable, title: "Unavailable" },
  overloaded: { statusCode: 503, rpcCode: RPC_CODES.unavailable, title: "Overloaded; try again" },
};

/** Facts beside the text of a refusal. They go into the body as they are: nothing secret belongs here. */
export type RefusalMembers = Readonly<Record<string, unknown>>;

/** A refusal on its way to the client. Each surface writes it in its own form: google.rpc.Status or problem+json. */
export class HttpRefusal extends Error {
  readonly reason: RefusalReason;
  readonly statusCode: number;
  readonly rpcCode: number;
  readonly title: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly members: RefusalMembers;

  constructor(
    reason: RefusalReason,
    detail: string,
    extra: { readonly headers?: Readonly<Record<string, string>>; readonly members?: RefusalMembers } = {},
  ) {
    super(detail);
    this.name = "HttpRefusal";
    const { statusCode, rpcCode, title } = KINDS[reason];
    this.reason = reason;
    this.statusCode = statusCode;
    this.rpcCode = rpcCode;
    this.title = title;
    this.headers = extra.headers ?? {};
    this.members = extra.members ?? {};
  }
}

/** Asks the client to come back. JS exporters drop a batch when the delay exceeds what is left of theirs: keep it small. */
export function retryLater(
  reason: "overloaded" | "unavailable" | "rate_limited",
  detail: string,
  retryAfterSeconds = 1,
  members: RefusalMembers = {},
): HttpRefusal {
  const seconds = Math.max(1, Math.ceil(retryAfterSeconds));
  return new HttpRefusal(reason, detail, { headers: { "retry-after": String(seconds) }, members });
}

/**
 * Whatever was thrown while a request was handled, as a refusal. A fault of ours tells the client nothing of itself:
 * it goes to `onError`.
 */
export function refusalOf(error: unknown, onError: (error: unknown) => void): HttpRefusal {
  if (error instanceof HttpRefusal) return error;
  const { statusCode, message } = describe(error);
  // The framework would say the URL again, and what is in it.
  if (isBadUrl(error)) return new HttpRefusal("malformed", "the URL is not well formed");
  if (statusCode === 413) return new HttpRefusal("too_large", message);
  if (statusCode === 415) return new HttpRefusal("unsupported_media", message);
  if (statusCode === 404) return new HttpRefusal("not_found", message);
  if (statusCode >= 400 && statusCode < 500) return new HttpRefusal("malformed", message);
  onError(error);
  return new HttpRefusal("internal", "the collector failed to handle the request");
}

function describe(error: unknown): { readonly statusCode: number; readonly message: string } {
  if (!(error instanceof Error)) return { statusCode: 500, message: "" };
  const { statusCode } = error as { readonly statusCode?: unknown };
  return { statusCode: typeof statusCode === "number" ? statusCode : 500, message: error.message };
}

function isBadUrl(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "FST_ERR_BAD_URL";
}
