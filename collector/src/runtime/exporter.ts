import type { ChildView } from "@agent-lifecycle/proto";
import type { AuditEntry, InputStatus, ProjectionInput } from "../core/index.ts";
import type { Component } from "./component.ts";
import type { ComponentContext } from "./component-context.ts";

/** One stored input, with what became of it. Redacted and durable, like everything behind the door. */
export interface ExportedInput {
  /** Grows by one from input to input; never used twice. */
  readonly inputId: number;
  readonly input: ProjectionInput;
  readonly status: InputStatus;
  /** Code of its objection; see `DIAGNOSTIC_CODES`. */
  readonly diagnostic: string | undefined;
  /** Changes it made that no event of the child made by itself: corrections of a snapshot, a loss, a new epoch. */
  readonly audit: readonly AuditEntry[];
}

/** A piece of the log, in order and without holes. */
export interface ExportBatch {
  /** At least one, oldest first. */
  readonly inputs: readonly ExportedInput[];
  /** Inputs that retention removed between the last batch and this one; 0 unless the exporter was away for long. */
  readonly missedInputs: number;
}

/**
 * What became of a batch. `delivered`: the destination has it, durably. `retry`: nothing is wrong with it, try again;
 * after a while that grows, or after `afterMs`. `refused`: the destination will never take it; it is counted and passed,
 * so that one bad batch does not stand in the way of all later ones.
 */
export type ExportOutcome =
  | { readonly kind: "delivered" }
  | { readonly kind: "retry"; readonly reason: string; readonly afterMs?: number }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Passes on what was stored. The collector reads the log for it, from a cursor that is kept for every exporter: a batch
 * comes at least once, in order, one at a time, and again after a crash. A slow or dead destination holds nothing in
 * memory and delays nobody else: what it has not taken stays in the log.
 */
export interface Exporter extends Component {
  /**
   * Delivers one batch. A rejection counts as `retry`. Called after `start` and never after `shutdown`; two calls never
   * overlap.
   * @param signal fires when it has taken too long or the collector stops: settle soon. Without `delivered` the batch
   * comes again.
   */
  export(batch: ExportBatch, signal: AbortSignal): Promise<ExportOutcome>;
}

export interface ExporterContext extends ComponentContext {
  /** A child as it is known now, which may be later than the batch at hand. `undefined`: never heard of, or let go. */
  child(source: string, childId: string): ChildView | undefined;
}

/**
 * Makes an exporter that is not started yet. A module exports it as `createExporter`.
 * @param options what the configuration says of it, valid by the module's `optionsSchema`, with its defaults laid in
 */
export type ExporterFactory<Options> = (context: ExporterContext, options: Options) => Exporter | Promise<Exporter>;
