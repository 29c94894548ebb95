import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type { ByteLease } from "./byte-budget.ts";
import { createContentDecoder } from "./content-coding.ts";
import { HttpRefusal, retryLater } from "./http-refusal.ts";

/** Both are counted in bytes as they come; a `Content-Length` is believed only when it is too large already. */
export interface BodyLimits {
  /** As sent. */
  readonly maxWireBytes: number;
  /** After decompression. */
  readonly maxDecodedBytes: number;
  /** A body that is not there by then is slow: it keeps nothing for what has not come. Milliseconds; default 5,000. */
  readonly slowAfterMs?: number;
  /**
   * Time a body that is held has to its end. Milliseconds; default 30,000: longer than exporters wait for an answer, and
   * as long as over gRPC.
   */
  readonly maxReceiveMs?: number;
}

/** After a refusal, this much more is read and thrown away to keep the connection; then it is cut. */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;

/**
 * Of a declared length so much is taken before it comes: requests that begin at the same time know of each other. Not
 * all of it, or a few senders that announce much and send nothing would keep everybody out.
 */
const MAX_RESERVED_BYTES = 1024 * 1024;

const DEFAULT_SLOW_AFTER_MS = 5_000;
const DEFAULT_MAX_RECEIVE_MS = 30_000;

/**
 * The body, decoded, as it arrives; reading pauses while the caller is busy. When it ends early, for any reason, the rest
 * is discarded so that the answer gets through and the connection stays usable.
 * @param admit called before anything is read; what it throws ends the body early
 * @param expiry what it rejects with ends the body early
 * @throws HttpRefusal `too_large`, `unsupported_media`, `malformed` (a broken coding) or `aborted`.
 */
export async function* bodyChunks(
  request: IncomingMessage,
  limits: BodyLimits,
  admit: () => void = () => {},
  expiry?: Promise<never>,
): AsyncGenerator<Buffer, void, void> {
  let complete = false;
  let source: Readable | undefined;
  try {
    refuseDeclaredLength(request, limits);
    admit();
    source = openSource(request, limits);
    let decodedBytes = 0;
    for await (const chunk of untilExpiry(source.iterator({ destroyOnReturn: false }), expiry)) {
      decodedBytes += chunk.length;
      if (decodedBytes > limits.maxDecodedBytes) throw tooLarge("decoded body", limits.maxDecodedBytes);
      yield chunk;
    }
    complete = true;
  } catch (error) {
    throw bodyRefusal(error);
  } finally {
    if (!complete) abandon(request, source);
  }
}

async function* untilExpiry(
  chunks: AsyncIterableIterator<Buffer>,
  expiry: Promise<never> | undefined,
): AsyncGenerator<Buffer, void, void> {
  try {
    for (;;) {
      const next = chunks.next();
      const { done, value } = await (expiry === undefined ? next : Promise.race([next, expiry]));
      if (done === true) return;
      yield value;
    }
  } finally {
    // It is done only when something comes, if it is being waited for.
    chunks.return?.().catch(() => {});
  }
}

/**
 * The whole body. Its bytes are taken from `lease`, which the caller releases when it has done with them. One that is slow
 * to come keeps nobody else out, and is refused retryably when it is not there in time.
 * @throws HttpRefusal as `bodyChunks`, and `overloaded` when the budget has no room or the time is over.
 */
export async function readBody(request: IncomingMessage, limits: BodyLimits, lease: ByteLease): Promise<Buffer> {
  const { slowAfterMs = DEFAULT_SLOW_AFTER_MS, maxReceiveMs = DEFAULT_MAX_RECEIVE_MS } = limits;
  const chunks: Buffer[] = [];
  const take = (bytes: number): void => {
    if (!lease.take(bytes)) throw retryLater("overloaded", "too many bytes are being received at once");
  };
  let taken = Math.min(Number(request.headers["content-length"] ?? 0) || 0, MAX_RESERVED_BYTES);
  let received = 0;
  const expiry = Promise.withResolvers<never>();
  expiry.promise.catch(() => {});
  let timer = setTimeout(() => {
    if (taken > received) lease.giveBack(taken - received);
    taken = received;
    lease.setSlow(true);
    timer = setTimeout(() => expiry.reject(tooSlow()), maxReceiveMs - slowAfterMs);
  }, slowAfterMs);
  try {
    for await (const chunk of bodyChunks(request, limits, () => take(taken), expiry.promise)) {
      received += chunk.length;
      if (received > taken) {
        take(received - taken);
        taken = received;
      }
      chunks.push(chunk);
    }
  } finally {
    clearTimeout(timer);
    lease.setSlow(false);
  }
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}

function refuseDeclaredLength(request: IncomingMessage, limits: BodyLimits): void {
  const declared = Number(request.headers["content-length"]);
  if (declared > limits.maxWireBytes) throw tooLarge("body", limits.maxWireBytes);
}

function openSource(request: IncomingMessage, limits: BodyLimits): Readable {
  const decoder = createContentDecoder(request.headers["content-encoding"]);
  if (decoder === undefined) return request;
  let wireBytes = 0;
  request.on("data", (chunk: Buffer) => {
    wireBytes += chunk.length;
    if (wireBytes > limits.maxWireBytes) decoder.destroy(tooLarge("body", limits.maxWireBytes));
  });
  // `pipe` does not pass these on: without them the reader would wait for ever.
  request.once("error", () => decoder.destroy(aborted()));
  // Not the request's own: it closes once all of it is here, and what it unfolds to may take much longer.
  const { socket } = request;
  const left = (): void => void decoder.destroy(aborted());
  socket.once("close", left);
  decoder.once("close", () => socket.off("close", left));
  return request.pipe(decoder);
}

function abandon(request: IncomingMessage, source: Readable | undefined): void {
  request.unpipe();
  if (source !== undefined && source !== request) source.destroy();
  if (request.readableEnded || request.destroyed) return;
  let discardedBytes = 0;
  request.on("error", () => {});
  request.on("data", (chunk: Buffer) => {
    discardedBytes += chunk.length;
    if (discardedBytes > MAX_DISCARDED_BYTES) request.destroy();
  });
  request.resume();
}

function bodyRefusal(error: unknown): HttpRefusal {
  if (error instanceof HttpRefusal) return error;
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  if (code?.startsWith("Z_") || code?.startsWith("ZSTD_")) {
    return new HttpRefusal("malformed", "the body is not what its content coding says, or it was cut");
  }
  return aborted();
}

function tooLarge(what: string, limitBytes: number): HttpRefusal {
  return new HttpRefusal("too_large", `the ${what} is larger than ${limitBytes} bytes`);
}

/** The connection is of no more use: what is left of the body may never come. */
function tooSlow(): HttpRefusal {
  const { message, headers } = retryLater("overloaded", "the body did not come to its end in time");
  return new HttpRefusal("overloaded", message, { headers: { ...headers, connection: "close" } });
}

function aborted(): HttpRefusal {
  return new HttpRefusal("aborted", "the client closed the connection before the body ended");
}
