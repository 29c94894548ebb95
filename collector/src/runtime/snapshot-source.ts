import type { Component } from "./component.ts";
import type { ComponentContext } from "./component-context.ts";

/** An authority that can be asked for the state of all children of a source (contract section 5). */
export interface SnapshotSource extends Component {
  /** The source it answers for; a snapshot of any other is refused. */
  readonly source: string;
  /**
   * Asks once. Resolves with a snapshot as a plain value, which is checked at the door; rejects when the authority
   * cannot be reached, and then nothing is concluded about any child yet. Two calls never overlap.
   * @param signal fires when the answer comes too late to be of use, or the collector stops
   */
  fetch(signal: AbortSignal): Promise<unknown>;
}

/**
 * Makes a snapshot source that is not started yet. A module exports it as `createSnapshotSource`.
 * @param options what the configuration says of it, valid by the module's `optionsSchema`, with its defaults laid in
 */
export type SnapshotSourceFactory<Options> = (
  context: ComponentContext,
  options: Options,
) => SnapshotSource | Promise<SnapshotSource>;
