import type { DiagnosticCode, State } from "@agent-lifecycle/proto";
import type { History, InputStatus, ReconciliationInput, TerminalEvidence } from "../core/index.ts";

/** A contract vector: inputs in their order, what each must do, and the records that must stand at the end. */
export interface Vector {
  readonly name: string;
  /** The contract rule it is about, such as `P13`. */
  readonly rule: string;
  readonly options: VectorOptions;
  readonly steps: readonly VectorStep[];
  /** Every child that has a state at the end. */
  readonly final: readonly ExpectedRecord[];
}

export interface VectorOptions {
  readonly staleAfterMs: number;
  readonly reconcileDeadlineMs: number;
  readonly missingGrace: number;
}

/** One input. Times are milliseconds since the epoch; events and snapshots stay as written: to refuse them is a rule. */
export type VectorStep =
  | {
      readonly kind: "event";
      readonly event: unknown;
      readonly receivedAt: number;
      readonly backfill: boolean;
      readonly expect: Expectation;
    }
  | { readonly kind: "snapshot"; readonly snapshot: unknown; readonly receivedAt: number; readonly expect: Expectation }
  | { readonly kind: "tick"; readonly at: number; readonly expect: Expectation }
  | { readonly kind: "resumed"; readonly at: number; readonly expect: Expectation }
  | {
      readonly kind: "reconciliation";
      readonly source: string;
      readonly childId: string;
      readonly outcome: ReconciliationInput["outcome"];
      readonly at: number;
      readonly expect: Expectation;
    };

/** What a step must do. An absent `path`, `state` or `audit` states nothing; the other members are always compared. */
export interface Expectation {
  /** Absent on steps that have none: ticks and resumptions. */
  readonly status?: InputStatus;
  /** Every diagnostic, in order. Empty: there must be none. */
  readonly diagnostics: readonly DiagnosticCode[];
  /** The member that made an event invalid. */
  readonly path?: string;
  /** The child's state afterwards; `null`: none. */
  readonly state?: State | null;
  /** The children that the step made stale, in any order. Empty: none. */
  readonly stale: readonly string[];
  readonly audit?: readonly ExpectedAudit[];
}

export interface ExpectedAudit {
  readonly childId: string;
  readonly from: string | null;
  readonly to: string;
}

/** A record at the end. An absent member means that the record has none. */
export interface ExpectedRecord {
  readonly source: string;
  readonly childId: string;
  readonly state: State;
  readonly stale: boolean;
  readonly provisional: boolean;
  readonly history: History;
  readonly highestSequence?: number;
  readonly gaps: readonly (readonly [number, number])[];
  readonly activity?: string;
  readonly conflicts: number;
  readonly corrections: number;
  readonly terminalEvidence?: TerminalEvidence;
}
