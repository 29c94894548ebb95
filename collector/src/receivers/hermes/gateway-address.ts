import { readSecretFile, SecretFileError } from "../../security/secret-file.ts";
import type { LinkEnd } from "./frame-link.ts";

/** Where a gateway serves its WebSocket, and what lets us in. */
export interface GatewayAddress {
  /** `ws:` or `wss:`, without credentials: `ws://127.0.0.1:9119/api/ws`. */
  readonly url: string;
  /** The gateway's session token, or a file that holds it, read anew for each connection. */
  readonly token?: string;
  readonly tokenFile?: string;
  /**
   * For a gateway behind a login: the `Cookie` header of a session that is logged in, or a file that holds it. Each
   * connection gets a ticket of its own with it.
   */
  readonly loginCookie?: string;
  readonly loginCookieFile?: string;
}

/** A connection that cannot even be tried, said as its end. */
export class AddressError extends Error {
  override readonly name = "AddressError";
  readonly end: LinkEnd;

  constructor(kind: LinkEnd["kind"], text: string) {
    super(text);
    this.end = { kind, text };
  }
}

/** The address with its credentials in place, which must never be shown. @throws AddressError */
export async function urlWithCredentials(address: GatewayAddress, signal: AbortSignal): Promise<string> {
  const url = new URL(address.url);
  const cookie = address.loginCookie ?? readCredential(address.loginCookieFile);
  if (cookie !== undefined) url.searchParams.set("ticket", await fetchTicket(address.url, cookie, signal));
  const token = address.token ?? readCredential(address.tokenFile);
  if (token !== undefined) url.searchParams.set("token", token);
  return url.href;
}

/** What may be shown of an address. */
export function displayAddress(text: string): string {
  const { protocol, host, pathname } = new URL(text);
  return `${protocol}//${host}${pathname}`;
}

/** A cookie may hold a signed token of some length. */
export const MAX_CREDENTIAL_BYTES = 8_192;

/** What is wrong with the file is shown to readers of the API: without its path. */
function readCredential(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  let credential: string;
  try {
    credential = readSecretFile(path, MAX_CREDENTIAL_BYTES).content.toString("utf8").trim();
  } catch (error) {
    if (!(error instanceof SecretFileError)) throw error;
    const reason = error.cause === undefined ? "it is no small regular file" : codeOf(error);
    throw new AddressError("refused", `the file of the credential cannot be used: ${reason}`);
  }
  if (/^[\x20-\x7e]+$/.test(credential)) return credential;
  throw new AddressError("refused", "the file of the credential must hold one line of printable ASCII");
}

const MAX_TICKET_REPLY_BYTES = 16_384;
const TICKET_TIMEOUT_MS = 10_000;

/** A ticket admits one connection, within the half minute after it was given. */
async function fetchTicket(gateway: string, cookie: string, signal: AbortSignal): Promise<string> {
  const url = new URL("/api/auth/ws-ticket", gateway.replace(/^ws/, "http"));
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { cookie, accept: "application/json" },
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(TICKET_TIMEOUT_MS)]),
    });
    text = await boundedText(response);
  } catch (error) {
    throw new AddressError("unreachable", `no ticket: ${codeOf(error)}`);
  }
  if (!response.ok) {
    // A redirect leads to a login page: the cookie is not logged in any more.
    throw new AddressError(response.status < 500 ? "refused" : "unreachable", `no ticket: answered ${response.status}`);
  }
  const ticket = ticketIn(text);
  if (ticket === undefined) throw new AddressError("refused", "no ticket in the answer");
  return ticket;
}

async function boundedText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > MAX_TICKET_REPLY_BYTES) throw new Error("the answer is too long");
  }
  return text;
}

function ticketIn(text: string): string | undefined {
  try {
    const ticket: unknown = JSON.parse(text)?.ticket;
    return typeof ticket === "string" && ticket !== "" ? ticket : undefined;
  } catch {
    return undefined;
  }
}

/** Messages may repeat an address or a header with what is in it; codes do not. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (!(cause instanceof Error)) return "the request failed";
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.name;
}
