import type { Diagnostic, DiagnosticCode, ToleratedAttributes } from "@agent-lifecycle/proto";
import type { InputStatus } from "../core/index.ts";

/**
 * Where something came in, for counters and diagnostics: `otlp_http`, `otlp_grpc`, `jsonl_http`, `jsonl_file`,
 * `jsonl_stdin`, `snapshot_http`, or the id of a component.
 */
export interface Origin {
  readonly receiver: string;
  /** Old evidence: from a journal, a file or a replay (S1). */
  readonly backfill: boolean;
  /** Size of what was received, for admission control. */
  readonly bytes: number;
  /** The sources that the sender may speak for. Without it: any. */
  readonly allowedSources?: ReadonlySet<string>;
  /** The name that the sender's credentials have; not there for a sender that showed none. */
  readonly sender?: string;
}

/** What became of one candidate. Nothing is kept of one that `refusedFor` names a reason for. */
export interface EventOutcome {
  readonly status: InputStatus;
  readonly diagnostics: readonly Diagnostic[];
}

/** P1; a source that the sender may not speak for; a child that may have ended before the log begins. */
const REFUSED_AT_THE_DOOR: ReadonlySet<DiagnosticCode> = new Set([
  "invalid_event",
  "source_not_allowed",
  "beyond_retention",
]);

/** Why nothing of a candidate was kept, or `undefined`: whatever else breaks a rule is kept with what became of it. */
export function refusedFor({ status, diagnostics }: EventOutcome): Diagnostic | undefined {
  return status === "rejected" ? diagnostics.find(({ code }) => REFUSED_AT_THE_DOOR.has(code)) : undefined;
}

/**
 * Nothing was stored. `overloaded`, `rate_limited` and a retryable `unavailable` may be tried again. `rate_limited` is
 * about this sender alone, `overloaded` about all of them.
 */
export type Refusal =
  | { readonly kind: "overloaded"; readonly retryAfterSeconds: number }
  | { readonly kind: "rate_limited"; readonly retryAfterSeconds: number }
  | { readonly kind: "unavailable"; readonly retryable: boolean; readonly reason: string };

export type EventsIntake = { readonly kind: "stored"; readonly outcomes: readonly EventOutcome[] } | Refusal;

export type SnapshotIntake =
  | {
      readonly kind: "stored";
      readonly status: InputStatus;
      readonly diagnostics: readonly (Diagnostic & { readonly childId?: string })[];
      readonly corrected: number;
      readonly stale: readonly string[];
    }
  | Refusal;

/**
 * The one door. Every receiver hands over what it decoded; it is normalized, redacted, stamped with the time of receipt,
 * stored and folded. The promise resolves after the commit and not before: what a receiver acknowledges is durable.
 * Never rejects.
 */
export interface Intake {
  /**
   * Resolves when what is handed over next will be stored soon. Whoever waits for it before decoding holds bytes, and
   * not the many times larger objects that they become. First come, first served; never rejects.
   */
  whenReady(): Promise<void>;
  /** One outcome for each candidate, in order. */
  acceptEvents(candidates: readonly unknown[], origin: Origin): Promise<EventsIntake>;
  acceptSnapshot(candidate: unknown, origin: Origin): Promise<SnapshotIntake>;
  /** Records that are not ours: accepted, counted, not stored. */
  countForeign(receiver: string, records: number): void;
  /** What was passed over in the attributes of records that are ours. */
  countTolerated(receiver: string, tolerated: ToleratedAttributes): void;
  /** Input that never became a candidate, such as a malformed line. Counted; kept among the bounded diagnostics. */
  reportProblem(receiver: string, problem: Diagnostic): void;
}
