import {
  cutText,
  type DecodedLogs,
  type ExportOutcome,
  FULL_SUCCESS,
  type RpcStatus,
  type ToleratedAttributes,
} from "@agent-lifecycle/proto";
import { HttpRefusal } from "../http/http-refusal.ts";
import { type EventOutcome, type Intake, type Origin, refusedFor } from "../runtime/intake.ts";
import { intakeRefusal } from "./intake-refusal.ts";

/** Records named one by one in the message of a partial success. */
const MAX_NAMED_RECORDS = 5;
/** Answers stay far below any limit that a client may have (H6). */
const MAX_MESSAGE_LENGTH = 4_096;

/**
 * Stores what a decoded request brought, and says what it came to (H9). The same for every transport of OTLP: records of
 * other origin are counted and nothing of them is kept, records that break the contract are refused one by one, and what
 * was passed over in their attributes is counted and comes with a warning (H10).
 * @param decode called when the collector is ready for what it makes
 * @throws HttpRefusal `malformed` for what is no request, and as `intakeRefusal` when nothing could be stored.
 */
export async function exportLogs(decode: () => DecodedLogs, intake: Intake, origin: Origin): Promise<ExportOutcome> {
  await intake.whenReady();
  const decoded = decode();
  if (!decoded.ok) throw new HttpRefusal("malformed", decoded.problem);
  const { live, old, foreign } = sortRecords(decoded.records);
  const share = origin.bytes / Math.max(live.candidates.length + old.candidates.length, 1);
  const submissions = await Promise.all([
    submit(intake, live.candidates, { ...origin, bytes: Math.ceil(share * live.candidates.length) }),
    submit(intake, old.candidates, { ...origin, bytes: Math.ceil(share * old.candidates.length), backfill: true }),
  ]);
  if (foreign > 0) intake.countForeign(origin.receiver, foreign);
  if (decoded.tolerated !== undefined) intake.countTolerated(origin.receiver, decoded.tolerated);
  return exportOutcomeOf(submissions.flat(), [...live.positions, ...old.positions], decoded.tolerated);
}

interface Candidates {
  readonly candidates: unknown[];
  /** Where each candidate stood among all records of the request. */
  readonly positions: number[];
}

interface SortedRecords {
  readonly live: Candidates;
  /** What says of itself that it was kept somewhere on its way (S1). */
  readonly old: Candidates;
  readonly foreign: number;
}

function sortRecords(records: (DecodedLogs & { readonly ok: true })["records"]): SortedRecords {
  const live: Candidates = { candidates: [], positions: [] };
  const old: Candidates = { candidates: [], positions: [] };
  let foreign = 0;
  for (const [position, record] of records.entries()) {
    if (record.foreign) foreign += 1;
    else {
      const kind = record.backfill === true ? old : live;
      kind.candidates.push(record.candidate);
      kind.positions.push(position);
    }
  }
  return { live, old, foreign };
}

async function submit(
  intake: Intake,
  candidates: readonly unknown[],
  origin: Origin,
): Promise<readonly EventOutcome[]> {
  if (candidates.length === 0) return [];
  const result = await intake.acceptEvents(candidates, origin);
  if (result.kind === "stored") return result.outcomes;
  throw intakeRefusal(result);
}

/** All records that were not refused are kept, whatever they turned out to be, and are not to be sent again. */
function exportOutcomeOf(
  outcomes: readonly EventOutcome[],
  positions: readonly number[],
  tolerated: ToleratedAttributes | undefined,
): ExportOutcome {
  let rejectedLogRecords = 0;
  const rules = new Set<string>();
  const named: string[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    const broken = refusedFor(outcome);
    if (broken === undefined) continue;
    rejectedLogRecords += 1;
    rules.add(broken.code);
    if (named.length < MAX_NAMED_RECORDS) {
      named.push(`record ${positions[index]}: ${broken.path || "the record"} ${broken.text ?? "breaks the contract"}`);
    }
  }
  const warning = tolerated === undefined ? "" : warningOf(tolerated);
  if (rejectedLogRecords === 0) return warning === "" ? FULL_SUCCESS : { rejectedLogRecords, errorMessage: warning };
  const further = rejectedLogRecords > named.length ? `; and ${rejectedLogRecords - named.length} more` : "";
  const refusals = `${[...rules].join(", ")}: ${named.join("; ")}${further}`;
  const errorMessage = cutText(warning === "" ? refusals : `${refusals}. ${warning}`, MAX_MESSAGE_LENGTH);
  return { rejectedLogRecords, errorMessage };
}

/** Nothing of it costs a record: whoever sent it hears of it, and need not send again. */
function warningOf({ repeatedKeys, stringTableIndexes }: ToleratedAttributes): string {
  const passedOver: string[] = [];
  if (repeatedKeys > 0) passedOver.push(`${repeatedKeys} under a key that the same record states again later`);
  if (stringTableIndexes > 0) passedOver.push(`${stringTableIndexes} that only index a string table`);
  return `warning: attributes passed over: ${passedOver.join(", ")}`;
}

/** A refusal as google.rpc.Status (H11): the body over HTTP, `grpc-status-details-bin` over gRPC. */
export function rpcStatusOf({ reason, rpcCode: code, message, headers }: HttpRefusal): RpcStatus {
  const retryAfterSeconds = headers["retry-after"];
  if (retryAfterSeconds !== undefined) return { code, message, retryDelayMs: Number(retryAfterSeconds) * 1000 };
  return reason === "malformed"
    ? { code, message, fieldViolations: [{ field: "body", description: message }] }
    : { code, message };
}
