import type { FastifyInstance, onRequestHookHandler } from "fastify";
import { ByteBudget } from "../http/byte-budget.ts";
import { allowOrigins } from "../http/cross-origin.ts";
import type { BodyLimits } from "../http/request-body.ts";
import { principalOf, requireScope } from "../http/require-scope.ts";
import { intakeRefusal } from "../receivers/intake-refusal.ts";
import { registerJsonlHttp } from "../receivers/jsonl-http.ts";
import { registerOtlpHttp } from "../receivers/otlp-http.ts";
import { registerSnapshotHttp } from "../receivers/snapshot-http.ts";
import { type Admission, OPEN_ADMISSION } from "../runtime/admission.ts";
import type { Intake } from "../runtime/intake.ts";
import type { RequestTelemetry } from "../runtime/request-telemetry.ts";
import { type AccessControl, OPEN_ACCESS } from "../security/access-control.ts";

export interface IngestDependencies {
  readonly intake: Intake;
  readonly telemetry: RequestTelemetry;
}

export interface IngestOptions {
  /** Largest body that is held in memory, as sent and after decompression. Bytes; default 64 MiB. */
  readonly maxBodyBytes?: number;
  /** What all bodies take at one time, also those of other servers that share it. Default: four of the largest. */
  readonly budget?: ByteBudget;
  /** As in `BodyLimits`, for bodies that are held. */
  readonly slowAfterMs?: number;
  readonly maxReceiveMs?: number;
  /** Largest JSONL body, which is never held. Bytes, as sent and after decompression; default 1 GiB. */
  readonly maxStreamedBytes?: number;
  /** Longest JSONL line. Bytes; default 64 KiB. */
  readonly maxLineBytes?: number;
  /** Who may send, and for which sources. Everybody by default. */
  readonly access?: AccessControl;
  /** Asked before anything of a body is read. By default everything is let in. */
  readonly admission?: Admission;
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
  const { access = OPEN_ACCESS, admission = OPEN_ADMISSION, allowedOrigins = [], maxLineBytes, onError } = options;
  const maxBodyBytes = options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES;
  const maxStreamedBytes = options.maxStreamedBytes ?? DEFAULT_MAX_STREAMED_BYTES;
  const budget = options.budget ?? new ByteBudget(4 * maxBodyBytes);
  const limits: BodyLimits = {
    maxWireBytes: maxBodyBytes,
    maxDecodedBytes: maxBodyBytes,
    ...(options.slowAfterMs === undefined ? undefined : { slowAfterMs: options.slowAfterMs }),
    ...(options.maxReceiveMs === undefined ? undefined : { maxReceiveMs: options.maxReceiveMs }),
  };
  const streamed = { maxWireBytes: maxStreamedBytes, maxDecodedBytes: maxStreamedBytes };
  const crossOrigin = allowedOrigins.length > 0;
  const guard = (scope: FastifyInstance): void => {
    if (crossOrigin) scope.addHook("onRequest", allowOrigins(allowedOrigins));
    scope.addHook("onRequest", requireScope(access, "ingest"));
    scope.addHook("onRequest", askAdmission(admission));
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

/** Refuses what cannot be taken now while it costs nothing: no byte of the body has been read. */
function askAdmission(admission: Admission): onRequestHookHandler {
  return (request, _reply, done) => {
    const refusal = request.method === "OPTIONS" ? undefined : admission.refusal(principalOf(request).name);
    if (refusal === undefined) done();
    else done(intakeRefusal(refusal));
  };
}
