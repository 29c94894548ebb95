import { readFile } from "node:fs/promises";
import { errorInWords } from "./display-text.ts";
import type { LinkEnd } from "./frame-link.ts";

/** Where a gateway serves its WebSocket, and what lets us in. */
export interface GatewayAddress {
  /** `ws:` or `wss:`, without credentials: `ws://127.0.0.1:9119/api/ws`. */
  readonly url: string;
  /** The gateway's session token, or a file that holds it, read anew for each connection. */
  readonly token?: string;
  readonly tokenFile?: string;
  /**
   * For a gateway behind a login: the `Cookie` header of a session that is logged in. Each connection gets a ticket of its
   * own with it.
   */
  readonly ticketCookie?: string;
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
  if (address.ticketCookie !== undefined) url.searchParams.set("ticket", await fetchTicket(address, signal));
  else {
    const token = address.token ?? (await readToken(address.tokenFile));
    if (token !== undefined) url.searchParams.set("token", token);
  }
  return url.href;
}

/** What may be shown of an address. */
export function displayAddress(text: string): string {
  const { protocol, host, pathname } = new URL(text);
  return `${protocol}//${host}${pathname}`;
}

async function readToken(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  let token: string;
  try {
    token = (await readFile(path, "utf8")).trim();
  } catch (error) {
    throw new AddressError("refused", `the token file cannot be read: ${codeOf(error)}`);
  }
  if (token === "") throw new AddressError("refused", "the token file is empty");
  return token;
}

const MAX_TICKET_REPLY_BYTES = 16_384;
const TICKET_TIMEOUT_MS = 10_000;

/** A ticket admits one connection, within the half minute after it was given. */
async function fetchTicket(address: GatewayAddress, signal: AbortSignal): Promise<string> {
  const url = new URL("/api/auth/ws-ticket", address.url.replace(/^ws/, "http"));
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { cookie: address.ticketCookie ?? "", accept: "application/json" },
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

/** Messages may repeat an address with what is in it; codes do not. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (cause instanceof Error && "code" in cause && typeof cause.code === "string") return cause.code;
  return errorInWords(cause);
}
