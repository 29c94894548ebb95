import type { Capabilities, State } from "@agent-lifecycle/proto";
import type { AdapterInput } from "./adapter-input.ts";

/** What an adapter knows about one attempt of one child. Plain JSON. */
export interface TrackedChild {
  /** The name that the observed system has for it; attempts share it. */
  readonly key: string;
  readonly childId: string;
  readonly rootChildId: string;
  readonly parentChildId?: string;
  readonly attempt: number;
  /** RFC 3339 UTC. Its beginning was not seen. */
  readonly adoptedAt?: string;
  readonly sourceEpoch: string;
  readonly capabilities: Partial<Capabilities>;
  readonly state: State;
  /** Of the next event. */
  readonly nextSequence: number;
  /** What the adapter notes about it: identifiers and words, never content. */
  readonly notes: Notes;
}

export type Notes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** Inputs about somebody who is not known, kept until that child begins. */
export interface Quarantine {
  readonly count: number;
  /** The first ones, as many as there is room for. */
  readonly inputs: readonly AdapterInput[];
}

/**
 * All that an adapter remembers, bounded. A value: mapping makes a new one and leaves the old one as it was.
 */
export interface AdapterState {
  readonly source: string;
  readonly sourceEpoch: string;
  /** By key. */
  readonly live: ReadonlyMap<string, TrackedChild>;
  /** By key: the newest attempt, which has ended. */
  readonly ended: ReadonlyMap<string, TrackedChild>;
  /** Further names of children (a tool use, a span), to their keys. */
  readonly aliases: ReadonlyMap<string, string>;
  readonly quarantined: ReadonlyMap<string, Quarantine>;
  readonly notes: Notes;
}

/** The state before the first input. `sourceEpoch` names this run; a run that is read on keeps it. */
export function emptyAdapterState(source: string, sourceEpoch: string): AdapterState {
  return {
    source,
    sourceEpoch,
    live: new Map(),
    ended: new Map(),
    aliases: new Map(),
    quarantined: new Map(),
    notes: {},
  };
}

/** The state as JSON can hold it. */
export function serializeAdapterState(state: AdapterState): string {
  return JSON.stringify({
    ...state,
    live: [...state.live],
    ended: [...state.ended],
    aliases: [...state.aliases],
    quarantined: [...state.quarantined],
  });
}

/** @throws Error when the text is none of `serializeAdapterState`. */
export function parseAdapterState(text: string): AdapterState {
  const { live, ended, aliases, quarantined, ...rest } = JSON.parse(text) as Record<keyof AdapterState, unknown>;
  return {
    ...(rest as Pick<AdapterState, "source" | "sourceEpoch" | "notes">),
    live: new Map(live as [string, TrackedChild][]),
    ended: new Map(ended as [string, TrackedChild][]),
    aliases: new Map(aliases as [string, string][]),
    quarantined: new Map(quarantined as [string, Quarantine][]),
  };
}
