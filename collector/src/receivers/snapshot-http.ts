import type { FastifyInstance, FastifyRequest } from "fastify";
import { refuseOtherMethods } from "../http/allowed-methods.ts";
import type { ByteBudget } from "../http/byte-budget.ts";
import { HttpRefusal, refusalOf } from "../http/http-refusal.ts";
import { parseJsonBody } from "../http/json-body.ts";
import { mediaTypeOf } from "../http/media-type.ts";
import { sendProblem } from "../http/problem-reply.ts";
import { type BodyLimits, readBody } from "../http/request-body.ts";
import { countRequests } from "../http/request-counting.ts";
import { principalOf, sourcesAllowedTo } from "../http/require-scope.ts";
import type { Intake, SnapshotIntake } from "../runtime/intake.ts";
import type { RequestTelemetry } from "../runtime/request-telemetry.ts";
import { intakeRefusal } from "./intake-refusal.ts";

/** What comes in here comes from this receiver. */
export const SNAPSHOT_RECEIVER = "snapshot_http";
const SNAPSHOTS = "/v1/lifecycle/snapshots";
/** Diagnostics and stale children listed in an answer; the stored ones are not cut. */
const MAX_LISTED = 32;

export interface SnapshotHttpOptions {
  readonly intake: Intake;
  readonly limits: BodyLimits;
  readonly budget: ByteBudget;
  readonly telemetry: RequestTelemetry;
  readonly onError: (error: unknown) => void;
}

type StoredSnapshot = SnapshotIntake & { readonly kind: "stored" };

/** What the sender of a snapshot is told. */
export interface SnapshotAnswer {
  readonly status: StoredSnapshot["status"];
  /** Children whose state the snapshot corrected. */
  readonly corrected: number;
  /** Children that the snapshot's omissions made stale; the first 32. */
  readonly stale: readonly string[];
  /** The first 32. */
  readonly diagnostics: StoredSnapshot["diagnostics"];
}

/** `POST /v1/lifecycle/snapshots`: one snapshot (contract section 5). 422 when it breaks the contract, 403 when its sender may not speak for its source or somebody else is its authority; nothing of it is used then. */
export async function registerSnapshotHttp(scope: FastifyInstance, options: SnapshotHttpOptions): Promise<void> {
  countRequests(scope, SNAPSHOT_RECEIVER, options.telemetry);
  scope.setErrorHandler((error, _request, reply) => sendProblem(reply, refusalOf(error, options.onError)));
  refuseOtherMethods(scope, SNAPSHOTS, ["POST"]);
  scope.post(SNAPSHOTS, (request) => receiveSnapshot(request, options));
}

async function receiveSnapshot(
  request: FastifyRequest,
  { intake, limits, budget }: SnapshotHttpOptions,
): Promise<SnapshotAnswer> {
  if (mediaTypeOf(request.headers["content-type"]) !== "application/json") {
    throw new HttpRefusal("unsupported_media", "a snapshot comes as application/json");
  }
  const lease = budget.open();
  try {
    const body = await readBody(request.raw, limits, lease);
    const origin = {
      receiver: SNAPSHOT_RECEIVER,
      backfill: false,
      bytes: body.length,
      sender: principalOf(request).name,
      ...sourcesAllowedTo(request),
    };
    return answerOf(await intake.acceptSnapshot(parseJsonBody(body), origin));
  } finally {
    lease.release();
  }
}

function answerOf(result: SnapshotIntake): SnapshotAnswer {
  if (result.kind !== "stored") throw intakeRefusal(result);
  const { status, corrected } = result;
  const diagnostics = result.diagnostics.slice(0, MAX_LISTED);
  const foreign = diagnostics.find(({ code }) => code === "source_not_allowed");
  if (foreign !== undefined)
    throw new HttpRefusal("forbidden", foreign.text ?? "the sender may not speak for the source");
  const invalid = diagnostics.find(({ code }) => code === "invalid_snapshot");
  if (invalid !== undefined) {
    throw new HttpRefusal("invalid_content", `${invalid.path || "the snapshot"}: ${invalid.text ?? "invalid"}`, {
      members: { diagnostics },
    });
  }
  return { status, corrected, stale: result.stale.slice(0, MAX_LISTED), diagnostics };
}
