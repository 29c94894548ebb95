import { isTerminal, type LifecycleEvent, type SnapshotEntry, type State } from "@agent-lifecycle/proto";

export interface ChildRegisterOptions {
  /** Children that are known at one time, ended ones among them. */
  readonly maxChildren: number;
  /** Ended ones among them; the oldest are forgotten. */
  readonly maxEndedChildren: number;
}

/** What the events of one lifecycle say of its children. Bounded, whatever a host does. */
export class ChildRegister {
  readonly #options: ChildRegisterOptions;
  readonly #live = new Map<string, KnownChild>();
  readonly #ended = new Map<string, KnownChild>();
  #unheard = 0;
  #hasForgotten: boolean;
  #version = 0;

  /** @param hasMissed whether there were events before the first that it hears of */
  constructor(options: ChildRegisterOptions, hasMissed: boolean) {
    this.#options = options;
    this.#hasForgotten = hasMissed;
  }

  /** Grows with everything that changes what there is to tell. */
  get version(): number {
    return this.#version;
  }

  /** Every child that there ever was is told of: none was forgotten, missed, given away, or is nobody's to vouch for. */
  get isWhole(): boolean {
    return !this.#hasForgotten && this.#unheard === 0;
  }

  witness(event: LifecycleEvent): void {
    const { childId } = event;
    const before = this.#live.get(childId);
    const state = event.state ?? before?.state;
    // Of a child that began before this register only its next state says what there is to tell.
    if (state === undefined || this.#ended.has(childId)) return;
    const child = before ?? this.#begin(event, state);
    if (child === undefined) return;
    this.#version += 1;
    child.state = state;
    child.sequence = event.sequence;
    if (event.activity !== undefined) child.activity = event.activity;
    if (event.state !== undefined) child.capabilities = event.capabilities;
    if (isTerminal(state)) this.#end(childId, child);
  }

  /** Says nothing more of a child. */
  release(childId: string): void {
    const child = this.#live.get(childId);
    if (child !== undefined && !child.isVouchedFor) this.#unheard -= 1;
    this.#live.delete(childId);
    this.#ended.delete(childId);
    this.#hasForgotten = true;
    this.#version += 1;
  }

  /** What can be told now, ended children first. */
  entries(): readonly SnapshotEntry[] {
    const entries: SnapshotEntry[] = [];
    for (const [childId, child] of this.#ended) entries.push(entryOf(childId, child));
    for (const [childId, child] of this.#live) if (child.isVouchedFor) entries.push(entryOf(childId, child));
    return entries;
  }

  #begin(event: LifecycleEvent, state: State): KnownChild | undefined {
    const isVouchedFor = !event.lineage.external || event.capabilities.heartbeat === "known";
    if (this.#live.size + this.#ended.size >= this.#options.maxChildren) this.#forgetOldestEnded();
    if (this.#live.size + this.#ended.size >= this.#options.maxChildren) {
      this.#hasForgotten = true;
      return undefined;
    }
    const { lineage, sequence, activity, capabilities, details } = event;
    const child: KnownChild = {
      lineage,
      state,
      sequence,
      activity,
      capabilities,
      names: namesIn(details),
      isVouchedFor,
    };
    this.#live.set(event.childId, child);
    if (!isVouchedFor) this.#unheard += 1;
    return child;
  }

  /** How it ended is known, whoever could vouch for its life. */
  #end(childId: string, child: KnownChild): void {
    this.#live.delete(childId);
    if (!child.isVouchedFor) this.#unheard -= 1;
    this.#ended.set(childId, child);
    if (this.#ended.size > this.#options.maxEndedChildren) this.#forgetOldestEnded();
  }

  #forgetOldestEnded(): void {
    const [oldest] = this.#ended.keys();
    if (oldest === undefined) return;
    this.#ended.delete(oldest);
    this.#hasForgotten = true;
  }
}

interface KnownChild {
  readonly lineage: LifecycleEvent["lineage"];
  /** What a reader would call it. */
  readonly names: LifecycleEvent["details"];
  /** Nobody says of an adopted child without heartbeats that it still lives. */
  readonly isVouchedFor: boolean;
  state: State;
  sequence: number | undefined;
  activity: string | undefined;
  capabilities: LifecycleEvent["capabilities"];
}

function entryOf(
  childId: string,
  { lineage, state, sequence, activity, capabilities, names }: KnownChild,
): SnapshotEntry {
  return {
    childId,
    state,
    lineage,
    capabilities,
    ...(sequence === undefined ? undefined : { sequence }),
    ...(activity === undefined ? undefined : { activity }),
    ...(names === undefined ? undefined : { details: names }),
  };
}

const NAMES = ["name", "agentType", "model"] as const;

/** Details may be large and are told by events; these tell children apart. */
function namesIn(details: LifecycleEvent["details"]): LifecycleEvent["details"] {
  if (details === undefined) return undefined;
  const names = NAMES.flatMap((name) => (details[name] === undefined ? [] : [[name, details[name]] as const]));
  return names.length === 0 ? undefined : Object.fromEntries(names);
}
