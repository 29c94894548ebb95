import type { FastifyInstance } from "fastify";
import { requireBearerToken } from "../http/bearer-token.ts";
import { ByteBudget } from "../http/byte-budget.ts";
import { allowOrigins } from "../http/cross-origin.ts";
import { registerJsonlHttp } from "../receivers/jsonl-http.ts";
import { registerOtlpHttp } from "../receivers/otlp-http.ts";
import { registerSnapshotHttp } from "../receivers/snapshot-http.ts";
import type { Intake } from "../runtime/intake.ts";
import type { RequestTelemetry } from "../runtime/request-telemetry.ts";

export interface IngestDependencies {
  readonly intake: Intake;
  readonly telemetry: RequestTelemetry;
}

export interface IngestOptions {
  /** Largest body that is held in memory, as sent and after decompression. Bytes; default 64 MiB. */
  readonly maxBodyBytes?: number;
  /** All bodies held at one time; beyond it requests are refused retryably. Bytes; default four of the largest. */
  readonly maxBodiesBytes?: number;
  /** Largest JSONL body, which is never held. Bytes, as sent and after decompression; default 1 GiB. */
  readonly maxStreamedBytes?: number;
  /** Longest JSONL line. Bytes; default 64 KiB. */
  readonly maxLineBytes?: number;
  /** Bearer token for every ingest route. None by default. */
  readonly ingestToken?: string;
  /** Origins whose web pages may post. None by default. */
  readonly allowedOrigins?: readonly string[];
}

const DEFAULT_MAX_BODY_BYTES = 64 * 1024 * 1024;
const DEFAULT_MAX_STREAMED_BYTES = 1024 * 1024 * 1024;

/** Registers every route that takes evidence. */
export async function registerIngestRoutes(
  server: FastifyInstance,
  { intake, telemetry }: IngestDependencies,
  options: IngestOptions & { readonly onError: (error: unknown) => void },
): Promise<void> {
  const { ingestToken, allowedOrigins = [], maxLineBytes, onError } = options;
  const maxBodyBytes = options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES;
  const maxStreamedBytes = options.maxStreamedBytes ?? DEFAULT_MAX_STREAMED_BYTES;
  const budget = new ByteBudget(options.maxBodiesBytes ?? 4 * maxBodyBytes);
  const limits = { maxWireBytes: maxBodyBytes, maxDecodedBytes: maxBodyBytes };
  const streamed = { maxWireBytes: maxStreamedBytes, maxDecodedBytes: maxStreamedBytes };
  const crossOrigin = allowedOrigins.length > 0;
  const guard = (scope: FastifyInstance): void => {
    if (crossOrigin) scope.addHook("onRequest", allowOrigins(allowedOrigins));
    if (ingestToken !== undefined) scope.addHook("onRequest", requireBearerToken(ingestToken));
  };
  await server.register(async (scope) => {
    guard(scope);
    await registerOtlpHttp(scope, { intake, limits, budget, telemetry, crossOrigin, onError });
  });
  await server.register(async (scope) => {
    guard(scope);
    const lineLimit = maxLineBytes === undefined ? undefined : { maxLineBytes };
    await registerJsonlHttp(scope, { intake, limits: streamed, ...lineLimit, telemetry, crossOrigin, onError });
  });
  await server.register(async (scope) => {
    guard(scope);
    await registerSnapshotHttp(scope, { intake, limits, budget, telemetry, onError });
  });
}
