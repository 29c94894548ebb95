import type { IncomingMessage } from "node:http";
import { HttpRefusal } from "../http/http-refusal.ts";
import { parseJsonBody } from "../http/json-body.ts";
import { mediaTypeOf } from "../http/media-type.ts";
import type { SnapshotSource } from "../runtime/snapshot-source.ts";
import { readSecretFile } from "../security/secret-file.ts";
import { readTokenFile } from "../security/token-file.ts";
import { readLimited, sendGet } from "./http-get.ts";

export interface HttpSnapshotSourceOptions {
  readonly source: string;
  /** `http:` or `https:`, without credentials. */
  readonly url: string;
  /** Sent as a bearer token. At most one of this and `tokenFile`. */
  readonly token?: string | undefined;
  /** Read before every question: a token that is replaced needs no restart. */
  readonly tokenFile?: string | undefined;
  readonly tls?: HttpSnapshotSourceTls | undefined;
  /** A longer answer is none. Bytes. */
  readonly maxAnswerBytes: number;
}

/** PEM files, read before every question. */
export interface HttpSnapshotSourceTls {
  /** Who may have signed the server's certificate. Default: the authorities that Node.js brings. */
  readonly caFile?: string | undefined;
  /** The certificate that is shown to the server (mTLS), with its key. Default: none. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
}

const MAX_PEM_BYTES = 1024 * 1024;

/**
 * An authority that answers a GET with its snapshot. Only a 200 of JSON is an answer, or a 304 to the entity tag of the
 * last one: then that is given again as it was, with the time at which the authority looked. Redirects are refused, since
 * they would take the credentials elsewhere.
 */
export function createHttpSnapshotSource(options: HttpSnapshotSourceOptions): SnapshotSource {
  return new HttpSnapshotSource(options);
}

class HttpSnapshotSource implements SnapshotSource {
  readonly source: string;
  readonly #options: HttpSnapshotSourceOptions;
  readonly #stop = new AbortController();
  #last: { readonly etag: string; readonly answer: unknown } | undefined;

  constructor(options: HttpSnapshotSourceOptions) {
    this.source = options.source;
    this.#options = options;
  }

  /** @throws SecretFileError when a file that it needs cannot be read. */
  async start(): Promise<void> {
    this.#credentials();
  }

  async shutdown(): Promise<void> {
    this.#stop.abort(new Error("the snapshot source was shut down"));
    this.#last = undefined;
  }

  async fetch(signal: AbortSignal): Promise<unknown> {
    const either = AbortSignal.any([signal, this.#stop.signal]);
    either.throwIfAborted();
    const { url, maxAnswerBytes } = this.#options;
    const { token, ...tls } = this.#credentials();
    const headers: Record<string, string> = {
      accept: "application/json",
      "accept-encoding": "identity",
      "user-agent": "agent-lifecycle-collector",
    };
    if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
    const last = this.#last;
    if (last !== undefined) headers["if-none-match"] = last.etag;
    const response = await sendGet(url, headers, tls, either);
    try {
      if (response.statusCode === 304 && last !== undefined) return last.answer;
      const objection = objectionTo(response);
      if (objection !== undefined) throw new Error(objection);
      const answer = parsed(await readLimited(response, maxAnswerBytes));
      const { etag } = response.headers;
      this.#last = etag === undefined ? undefined : { etag, answer };
      return answer;
    } finally {
      // Whatever was not read is not waited for.
      response.destroy();
    }
  }

  #credentials(): { readonly token?: string; readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer } {
    const { tokenFile, tls } = this.#options;
    const token = tokenFile === undefined ? this.#options.token : readTokenFile(tokenFile).token;
    const read = (file: string | undefined): Buffer | undefined =>
      file === undefined ? undefined : readSecretFile(file, MAX_PEM_BYTES).content;
    const [ca, cert, key] = [read(tls?.caFile), read(tls?.certFile), read(tls?.keyFile)];
    return {
      ...(token === undefined ? undefined : { token }),
      ...(ca === undefined ? undefined : { ca }),
      ...(cert === undefined ? undefined : { cert }),
      ...(key === undefined ? undefined : { key }),
    };
  }
}

/** Why a response is no answer, or `undefined`. */
function objectionTo({ statusCode = 0, headers }: IncomingMessage): string | undefined {
  if (statusCode === 401 || statusCode === 403) return `it refuses the credentials (${statusCode})`;
  if (statusCode >= 300 && statusCode < 400) return `it sends elsewhere (${statusCode}), which is not followed`;
  if (statusCode !== 200) return `it answers with status ${statusCode}`;
  const mediaType = mediaTypeOf(headers["content-type"]);
  if (mediaType !== "application/json")
    return `it answers with ${mediaType ?? "no content type"}, not application/json`;
  const encoding = headers["content-encoding"] ?? "identity";
  return encoding === "identity" ? undefined : "its answer is compressed, which was not asked for";
}

function parsed(body: Buffer): unknown {
  try {
    return parseJsonBody(body);
  } catch (error) {
    throw error instanceof HttpRefusal ? new Error(`its answer cannot be read: ${error.message}`) : error;
  }
}
