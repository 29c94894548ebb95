import { canonicalEvent, type LifecycleSnapshot, parseCanonicalEvent } from "@agent-lifecycle/proto";
import {
  INPUT_STATUSES,
  type InputStatus,
  identityKey,
  identityOf,
  type ProjectionInput,
  snapshotIdentityQuestion,
} from "../../core/index.ts";
import type { AppendedInput, StoredInput } from "../store.ts";
import { DamagedRowError } from "./database-error.ts";

/** Numbers stored in `inputs.type`. They are part of the file format: never renumber. */
const INPUT_TYPES = ["event", "snapshot", "stale", "reconciliation", "resumed"] as const;

export interface InputRow {
  readonly input_id: number;
  readonly type: number;
  readonly child_key: number | null;
  readonly at: number;
  readonly backfill: number;
  readonly sequence: number | null;
  /** Narrows a look-up by sequence; the payload has the epoch itself. */
  readonly epoch_digest: number | null;
  readonly identity: string | null;
  readonly status: number;
  readonly diagnostic: string | null;
  readonly payload: string;
}

export function rowOf(inputId: number, appended: AppendedInput): InputRow {
  const { input, childKey, status, diagnostic } = appended;
  return {
    input_id: inputId,
    type: INPUT_TYPES.indexOf(input.type),
    child_key: childKey ?? null,
    at: input.type === "event" || input.type === "snapshot" ? input.receivedAt : input.at,
    backfill: input.type === "event" && input.backfill ? 1 : 0,
    sequence: input.type === "event" ? (input.event.sequence ?? null) : null,
    epoch_digest: input.type === "event" ? epochDigest(input.event.sourceEpoch) : null,
    identity: claimedIdentity(input, status),
    status: INPUT_STATUSES.indexOf(status),
    diagnostic: diagnostic ?? null,
    payload: payloadOf(appended),
  };
}

/** The text key an input claims: a conflict (P3, P4) claims none, and sequenced events are found by their sequence. */
function claimedIdentity(input: ProjectionInput, status: InputStatus): string | null {
  if (status === "conflict") return null;
  if (input.type === "snapshot") return identityKey(snapshotIdentityQuestion(input.snapshot));
  if (input.type === "event" && input.event.sequence === undefined) return identityKey(identityOf(input.event));
  return null;
}

function payloadOf({ input, canonicalContent }: AppendedInput): string {
  switch (input.type) {
    case "event":
      return canonicalContent ?? canonicalEvent(input.event);
    case "snapshot":
      return JSON.stringify({ snapshot: input.snapshot, policy: input.policy });
    case "stale":
    case "reconciliation":
    case "resumed":
      return JSON.stringify(input);
  }
}

/** @throws DamagedRowError that names the input when its row is damaged. */
export function storedInputOf(row: InputRow): StoredInput {
  try {
    const status = INPUT_STATUSES[row.status];
    if (status === undefined) throw new SyntaxError(`unknown status ${row.status}`);
    return { inputId: row.input_id, input: inputOf(row, status), status, diagnostic: row.diagnostic ?? undefined };
  } catch (error) {
    throw new DamagedRowError(`input ${row.input_id}`, error);
  }
}

function inputOf(row: InputRow, status: InputStatus): ProjectionInput {
  const type = INPUT_TYPES[row.type];
  switch (type) {
    case "event":
      return {
        type: "event",
        event: parseCanonicalEvent(row.payload),
        receivedAt: row.at,
        backfill: row.backfill === 1,
        // Duplicates are not stored, so that the answer once given can be told from what became of the event.
        identity: status === "conflict" && row.diagnostic === "identity_conflict" ? "different" : "new",
      };
    case "snapshot":
      return { type: "snapshot", receivedAt: row.at, identity: "new", ...parseSnapshotPayload(row.payload) };
    case "stale":
    case "reconciliation":
    case "resumed":
      return JSON.parse(row.payload) as ProjectionInput;
    default:
      throw new SyntaxError(`unknown type ${row.type}`);
  }
}

function parseSnapshotPayload(payload: string): {
  readonly snapshot: LifecycleSnapshot;
  readonly policy: { readonly missingGrace: number; readonly reconcileDeadlineMs: number };
} {
  return JSON.parse(payload) as ReturnType<typeof parseSnapshotPayload>;
}

/** 32 bits of an epoch's name (FNV-1a). Part of the file format. */
export function epochDigest(epoch: string): number {
  let digest = 0x811c9dc5;
  for (let index = 0; index < epoch.length; index += 1) {
    digest = Math.imul(digest ^ epoch.charCodeAt(index), 0x01000193);
  }
  return digest >>> 0;
}
