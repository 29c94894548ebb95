import type { Capabilities, State } from "@agent-lifecycle/proto";
import type { Notes } from "./adapter-state.ts";

/** Becomes the `details` of an event. */
export type FactsOfEvent = Readonly<Record<string, unknown>>;

/** What is said of a child when it is first heard of. */
export interface Beginning {
  /** Who delegated it, by key. Default: it is a root. */
  readonly parentKey?: string | undefined;
  readonly capabilities?: Partial<Capabilities>;
  readonly details?: FactsOfEvent;
  /** The state that it was reported in. Those before it are inferred. Default `created`. */
  readonly state?: State;
  /** Nobody reported that it was created, even though `state` is `created`: more follows. */
  readonly inferred?: boolean;
  /** Its beginning was before anybody looked: it is adopted, and nothing before `state` is claimed. */
  readonly adopted?: boolean;
  readonly notes?: Notes;
  /** Default: the key, and the attempt when it is not the first. */
  readonly childId?: string;
}
