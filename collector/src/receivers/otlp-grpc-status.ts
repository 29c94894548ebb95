import { encodeStatusProtobuf, RPC_CODES, type RpcStatus } from "@agent-lifecycle/proto";
import { Metadata, status as STATUS } from "@grpc/grpc-js";
import type { RequestOutcome } from "../runtime/request-telemetry.ts";

/** How a call ends. */
export interface CallStatus {
  readonly code: number;
  readonly details: string;
  readonly metadata: Metadata;
}

/** What calls may be compressed with; said to those who use something else. */
const ACCEPTED_CODINGS = "identity,deflate,gzip";

/** A status that is no success, with its details where OTLP clients look for them: RetryInfo decides whether they come back. */
export function callStatusOf(status: RpcStatus): CallStatus {
  const metadata = new Metadata();
  metadata.set("grpc-status-details-bin", Buffer.from(encodeStatusProtobuf(status)));
  return { code: status.code, details: status.message, metadata };
}

/**
 * What is said when the library has found that a message cannot be had: one that is too large, does not decompress, or
 * comes in a coding that is not known. All of it is the client's doing, and none of it gets better by another attempt.
 */
export function callStatusBeforeMessage(code: number, details: string): CallStatus {
  if (code === STATUS.INTERNAL) {
    const message = `the message cannot be read: ${details}`;
    const fieldViolations = [{ field: "body", description: message }];
    return callStatusOf({ code: RPC_CODES.invalidArgument, message, fieldViolations });
  }
  const refused = callStatusOf({ code, message: details });
  if (code === STATUS.UNIMPLEMENTED) refused.metadata.set("grpc-accept-encoding", ACCEPTED_CODINGS);
  return refused;
}

/** How a call counts among all requests. */
export function requestOutcomeOf(code: number): RequestOutcome {
  switch (code) {
    case STATUS.OK:
      return "accepted";
    case STATUS.UNAVAILABLE:
      return "overloaded";
    case STATUS.CANCELLED:
    case STATUS.DEADLINE_EXCEEDED:
      return "aborted";
    case STATUS.INTERNAL:
    case STATUS.UNKNOWN:
      return "failed";
    default:
      return "rejected";
  }
}
