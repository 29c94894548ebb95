import type { ToleratedAttributes } from "@agent-lifecycle/proto";
import type { InputStatus } from "../core/index.ts";
import type { Refusal } from "./intake.ts";

/** What the collector tells of itself. Implemented by the metrics surface; every method is cheap and never throws. */
export interface PipelineTelemetry {
  /** Events by what became of them. */
  countEvents(receiver: string, status: InputStatus, events: number): void;
  /** Records of lifecycle events: taken (stored, or known already), and refused because they break the contract (P1). */
  countRecords(receiver: string, taken: number, refused: number): void;
  countForeign(receiver: string, records: number): void;
  countTolerated(receiver: string, tolerated: ToleratedAttributes): void;
  countDiagnostic(code: string): void;
  countRefusal(receiver: string, kind: Refusal["kind"]): void;
  /** Verdicts that were stored: who became stale, who was lost, who stays unanswered. */
  countVerdict(outcome: "stale" | "lost" | "unavailable"): void;
  /** One commit: how long it took, fold and append included, and how many inputs it made durable. */
  observeCommit(durationMs: number, inputs: number): void;
  /** Received and not yet durable. */
  setQueue(bytes: number): void;
}

/** What retention tells of itself. */
export interface RetentionTelemetry {
  /** A step that is committed: what it removed, and the newest input that is gone. */
  countRetention(inputs: number, children: number, removedInputId: number): void;
  setStorage(state: StorageState): void;
}

export interface StorageState {
  /** What the stored data takes, without space that is free for reuse. */
  readonly usedBytes: number;
  /** It takes more than it may, and the rest is not retention's to remove. */
  readonly isOverLimit: boolean;
  /** Retention found that the stored projection is not what its inputs say, and removes nothing any more. */
  readonly isHalted: boolean;
}
