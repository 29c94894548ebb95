import type { Lineage, State } from "@agent-lifecycle/proto";
import type { SubagentFacts } from "./subagent-frame.ts";

/**
 * What was passed on about a child of the current epoch.
 *
 * unseen   it was named (as a parent, in a row) and nothing was passed on about it
 * queued   it was asked for, and did not start
 * running  it started
 * ended    its end was reported
 */
export type ChildPhase = "unseen" | "queued" | "running" | "ended";

/** A child as the collector knows it already, from before this connection. */
export interface KnownChild {
  readonly childId: string;
  /** `undefined` while only signs of it were received. */
  readonly state: State | undefined;
  readonly sourceEpoch: string;
  readonly lineage: Lineage;
}

export interface RosterChild {
  phase: ChildPhase;
  readonly parentChildId: string | undefined;
  readonly rootChildId: string;
  /** An ancestor's ancestors are not known: the root may lie higher. */
  readonly isRootAssumed: boolean;
  /** The runtime session whose stream carries its frames. */
  sessionId: string | undefined;
  /** When it was first seen to run. Milliseconds since the epoch. */
  runningSince: number | undefined;
  /** As last heard. */
  toolCalls: number | undefined;
  /** The word of its row that was told of, as nobody has defined it. */
  unknownStatus: string | undefined;
  /** How many views in a row did not list it. */
  omissions: number;
}

const MAX_CHILDREN = 20_000;
/** Views that leave a child out are passed on so often; the contract asks for two in a row (A6). */
export const MAX_OMISSIONS = 2;

/**
 * The children of one epoch, and what was passed on about each: a start that is seen twice, in a row and in a frame, is
 * one start. Bounded: the oldest that are over make room.
 */
export class ChildRoster {
  readonly #children = new Map<string, RosterChild>();

  get(childId: string): RosterChild | undefined {
    return this.#children.get(childId);
  }

  phaseOf(childId: string): ChildPhase {
    return this.#children.get(childId)?.phase ?? "unseen";
  }

  entries(): IterableIterator<[string, RosterChild]> {
    return this.#children.entries();
  }

  /** Forgets everything: a new epoch has no child in common with the one before. */
  clear(): void {
    this.#children.clear();
  }

  /** Takes up what the collector knows of this epoch from before its own restart. */
  recall(known: Iterable<KnownChild>, epoch: string): void {
    for (const { childId, state, sourceEpoch, lineage } of known) {
      if (sourceEpoch !== epoch || this.#children.has(childId)) continue;
      this.#insert(childId, {
        ...blankChild(lineage.parentChildId, lineage.rootChildId, false),
        phase: phaseOfState(state),
      });
    }
  }

  /** The child, with its place in the tree as far as it can be told; that place is fixed once told (P4). */
  note(facts: SubagentFacts): RosterChild {
    const known = this.#children.get(facts.childId);
    if (known !== undefined) return known;
    const { parentChildId, depth } = facts;
    const parent = parentChildId === undefined ? undefined : this.#children.get(parentChildId);
    // A parent whose own place is unknown is the root exactly when it is at the first level.
    const rootChildId = parent?.rootChildId ?? parentChildId ?? facts.childId;
    const isRootAssumed = parentChildId !== undefined && (parent?.isRootAssumed ?? depth !== 1);
    return this.#insert(facts.childId, blankChild(parentChildId, rootChildId, isRootAssumed));
  }

  lineageOf(child: RosterChild): Lineage {
    // Never `external`: whether a row or a frame shows a child first is chance, and its lineage must not depend on it
    // (P4). That its beginning was missed shows in its history, which is partial then (A5, P12).
    return {
      rootChildId: child.rootChildId,
      attempt: 0,
      external: false,
      ...(child.parentChildId === undefined ? undefined : { parentChildId: child.parentChildId }),
    };
  }

  #insert(childId: string, child: RosterChild): RosterChild {
    if (this.#children.size >= MAX_CHILDREN) this.#makeRoom();
    this.#children.set(childId, child);
    return child;
  }

  #makeRoom(): void {
    for (const [childId, { phase, omissions }] of this.#children) {
      if (phase !== "ended" && phase !== "unseen" && omissions < MAX_OMISSIONS) continue;
      this.#children.delete(childId);
      return;
    }
    const [oldest] = this.#children.keys();
    if (oldest !== undefined) this.#children.delete(oldest);
  }
}

function blankChild(parentChildId: string | undefined, rootChildId: string, isRootAssumed: boolean): RosterChild {
  return {
    phase: "unseen",
    parentChildId,
    rootChildId,
    isRootAssumed,
    sessionId: undefined,
    runningSince: undefined,
    toolCalls: undefined,
    unknownStatus: undefined,
    omissions: 0,
  };
}

function phaseOfState(state: State | undefined): ChildPhase {
  switch (state) {
    case undefined:
      return "unseen";
    case "created":
      return "queued";
    case "starting":
    case "running":
    case "waiting":
      return "running";
    case "completed":
    case "failed":
    case "cancelled":
    case "lost":
      return "ended";
  }
}
