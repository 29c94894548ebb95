import type { SupportLevel } from "@agent-lifecycle/proto";
import type { Component } from "./component.ts";
import type { ComponentContext } from "./component-context.ts";

/** An authority that can be asked for the state of all children of a source (contract section 5). */
export interface SnapshotSource extends Component {
  /** The source it answers for; a snapshot of any other is refused. */
  readonly source: string;
  /** How far it can be relied on, shown beside the source (`/api/v1/sources`). Default: experimental. */
  readonly supportLevel?: SupportLevel;
  /**
   * Asks once. Resolves with a snapshot as a plain value, which is checked at the door; rejects when the authority
   * cannot be reached, and then nothing is concluded about any child yet. Two calls never overlap; the first comes after
   * `start`, none after `shutdown`. The message of a rejection is shown, redacted and cut: it needs to hold no secret.
   * A snapshot that says the same as the last one has its identifier and its time: it is that statement again, and a new
   * identifier makes a new one.
   * @param signal fires when the answer comes too late to be of use, or the collector stops
   */
  fetch(signal: AbortSignal): Promise<unknown>;
}

export interface SnapshotSourceContext extends ComponentContext {
  /** The source that it is to answer for, by the configuration: what is made says the same. */
  readonly source: string;
}

/**
 * Makes a snapshot source that is not started yet. A module exports it as `createSnapshotSource`.
 * @param options what the configuration says of it, valid by the module's `optionsSchema`, with its defaults laid in
 */
export type SnapshotSourceFactory<Options> = (
  context: SnapshotSourceContext,
  options: Options,
) => SnapshotSource | Promise<SnapshotSource>;
