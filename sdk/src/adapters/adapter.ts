import type { LifecycleEvent } from "@agent-lifecycle/proto";
import type { AdapterInput } from "./adapter-input.ts";
import type { AdapterState } from "./adapter-state.ts";

/** How a stream came to its end, as far as whoever read it could see. Nothing known: the end of a file. */
export interface StreamEnd {
  readonly observedAtMs: number;
  /** Of the process that wrote the stream. */
  readonly exitCode?: number;
  readonly signal?: string;
  /** Whether the end was asked for: a signal that we passed on. */
  readonly requested?: boolean;
}

export type AdapterDiagnosticCode =
  /** It is not what the format describes; the member's path tells where. */
  | "invalid_input"
  /** A kind of input that this version of the adapter does not know. */
  | "unsupported_event"
  /** A word for a state or an outcome that this version of the adapter does not know. No state follows from it. */
  | "unsupported_status"
  /** An end of something whose beginning nobody saw. */
  | "unmatched_terminal"
  /** Activity under an id that no child has; kept aside until the child begins. */
  | "activity_for_unknown_child"
  /** It works although it waits: what it waited for has not been seen to be settled. */
  | "activity_while_waiting"
  /** A beginning that was told before. */
  | "duplicate_start"
  /** The observed system reported an error that ends nothing by itself. */
  | "error_reported"
  /** Identity or place of a child is not what was concluded before. */
  | "lineage_contradicted"
  /** There was no room to remember something; the oldest was forgotten. */
  | "too_much_to_remember";

/** One objection, bounded and redacted. */
export interface AdapterDiagnostic {
  readonly code: AdapterDiagnosticCode;
  readonly text: string;
  readonly childId?: string;
}

export interface AdapterResult {
  readonly state: AdapterState;
  /** Normalized, redacted, in order. */
  readonly events: readonly LifecycleEvent[];
  readonly diagnostics: readonly AdapterDiagnostic[];
}

/**
 * Maps what one system says to lifecycle events. Pure: time enters with the input, identities follow from the state, and
 * the same state and input always give the same result. Never throws, whatever the input is; an input that cannot be
 * understood is a diagnostic and ends nothing.
 */
export interface Adapter {
  /** As `ingest --format` has it. */
  readonly format: string;
  /** The source that children are reported under unless another is named. */
  readonly defaultSource: string;
  map(state: AdapterState, input: AdapterInput): AdapterResult;
  /** Puts values that were read together into the order in which they were made, where the format can tell it. */
  inOrder?(values: readonly unknown[]): readonly unknown[];
  /** The stream has ended. An end without an exit code proves nothing about a child (contract section 6). */
  end(state: AdapterState, end: StreamEnd): AdapterResult;
}
