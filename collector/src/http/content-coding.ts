import type { Transform } from "node:stream";
import { constants, createGunzip, createZstdDecompress } from "node:zlib";
import { HttpRefusal } from "./http-refusal.ts";

/** Output is made in pieces of this size, so that a limit is noticed at most one piece late. */
const CHUNK_BYTES = 64 * 1024;
/** 8 MiB: what RFC 8878 asks every decoder to support; more would let a sender choose our memory. */
const ZSTD_WINDOW_LOG = 23;

const gunzip = (): Transform => createGunzip({ chunkSize: CHUNK_BYTES });

const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ["gzip", gunzip],
  ["x-gzip", gunzip],
  [
    "zstd",
    () =>
      createZstdDecompress({
        chunkSize: CHUNK_BYTES,
        params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG },
      }),
  ],
]);

const ACCEPTED = "gzip, zstd, identity";

/**
 * The decoder for a `Content-Encoding`, or `undefined` when the body is as it is.
 * @throws HttpRefusal `unsupported_media` for a coding we do not have, or for more than one.
 */
export function createContentDecoder(contentEncoding: string | undefined): Transform | undefined {
  const coding = (contentEncoding ?? "identity").trim().toLowerCase();
  if (coding === "identity" || coding === "") return undefined;
  const create = DECODERS.get(coding);
  if (create === undefined) {
    throw new HttpRefusal("unsupported_media", `the content coding is none of: ${ACCEPTED}`, {
      headers: { "accept-encoding": ACCEPTED },
    });
  }
  return create();
}
