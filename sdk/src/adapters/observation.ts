import {
  type Capabilities,
  cutText,
  type EventKind,
  formatTimestamp,
  isTerminal,
  type LifecycleEvent,
  MAX_EXCERPT_LENGTH,
  normalizeEvent,
  redactText,
  SCHEMA_VERSION,
  type State,
} from "@agent-lifecycle/proto";
import type { AdapterDiagnostic, AdapterDiagnosticCode, AdapterResult } from "./adapter.ts";
import type { AdapterInput } from "./adapter-input.ts";
import type { AdapterState, Notes, Quarantine, TrackedChild } from "./adapter-state.ts";
import type { Beginning, FactsOfEvent as Details } from "./beginning.ts";
import { BoundedMap } from "./bounded-map.ts";
import { stated } from "./json-fields.ts";
import { legalPath } from "./legal-path.ts";

const MAX_LIVE = 4_096;
const MAX_ENDED = 1_024;
const MAX_ALIASES = 4_096;
const MAX_QUARANTINED = 64;
const MAX_QUARANTINED_INPUTS = 64;
/** Diagnostics of one input: one that lists thousands of unknown things is one sentence too many. */
const MAX_DIAGNOSTICS = 32;
/** Of something that repeats, every one up to here is told, then the powers of two. */
const TOLD_ONE_BY_ONE = 16;

/**
 * One input on its way: reads the state, collects what follows from it, and leaves the state as it was. All rules that
 * the adapters share are here: legal edges with what is missing bridged and marked, sequences, attempts, quarantine.
 */
export class Observation {
  readonly #state: AdapterState;
  readonly #observedAtMs: number;
  readonly #live: BoundedMap<TrackedChild>;
  readonly #ended: BoundedMap<TrackedChild>;
  readonly #aliases: BoundedMap<string>;
  readonly #quarantined: BoundedMap<Quarantine>;
  readonly #events: LifecycleEvent[] = [];
  readonly #diagnostics: AdapterDiagnostic[] = [];
  #notes: Notes;

  constructor(state: AdapterState, observedAtMs: number) {
    this.#state = state;
    this.#observedAtMs = observedAtMs;
    this.#live = new BoundedMap(state.live, MAX_LIVE);
    this.#ended = new BoundedMap(state.ended, MAX_ENDED);
    this.#aliases = new BoundedMap(state.aliases, MAX_ALIASES);
    this.#quarantined = new BoundedMap(state.quarantined, MAX_QUARANTINED);
    this.#notes = state.notes;
  }

  get notes(): Notes {
    return this.#notes;
  }

  note(notes: Notes): void {
    this.#notes = { ...this.#notes, ...notes };
  }

  /** The newest attempt of the child that has this name. */
  find(name: string): TrackedChild | undefined {
    const key = this.#keyOf(name);
    return this.#live.get(key) ?? this.#ended.get(key);
  }

  findLive(name: string): TrackedChild | undefined {
    return this.#live.get(this.#keyOf(name));
  }

  liveChildren(): readonly TrackedChild[] {
    return [...this.#live.current.values()];
  }

  /** Gives a child another name. */
  alias(name: string, key: string): void {
    if (name !== key) this.#aliases.set(name, this.#keyOf(key));
  }

  /** Begins a child that is not known; a known one is left as it is. */
  begin(key: string, beginning: Beginning = {}): TrackedChild {
    const known = this.find(key);
    if (known !== undefined) return known;
    const parent = beginning.parentKey === undefined ? undefined : this.find(beginning.parentKey);
    const childId = beginning.childId ?? key;
    return this.#begin(
      {
        key,
        childId,
        rootChildId: parent?.rootChildId ?? childId,
        ...(parent === undefined || parent.childId === childId ? undefined : { parentChildId: parent.childId }),
        attempt: 0,
        ...(beginning.adopted === true ? { adoptedAt: formatTimestamp(this.#observedAtMs) } : undefined),
        sourceEpoch: this.#state.sourceEpoch,
        capabilities: beginning.capabilities ?? {},
        state: "created",
        nextSequence: 0,
        notes: beginning.notes ?? {},
      },
      beginning,
    );
  }

  /** Begins the next attempt of a child that has ended: same root, same parent, a new identity. `key`: it goes by a name of its own. */
  retry(
    previous: TrackedChild,
    beginning: Omit<Beginning, "parentKey" | "adopted" | "childId"> & { readonly key?: string } = {},
  ): TrackedChild {
    const attempt = previous.attempt + 1;
    const { key = previous.key } = beginning;
    const { adoptedAt: _, ...stays } = previous;
    return this.#begin(
      {
        ...stays,
        key,
        childId: beginning.key ?? `${key}#${attempt}`,
        attempt,
        sourceEpoch: this.#state.sourceEpoch,
        capabilities: beginning.capabilities ?? previous.capabilities,
        state: "created",
        nextSequence: 0,
        notes: beginning.notes ?? {},
      },
      beginning,
    );
  }

  /**
   * The child was reported to be in a state. States that it must have passed are emitted before it and marked as
   * inferred. A state that it has already is nothing new; a claim about one that has ended is passed on as it is, for the
   * projection to count.
   */
  reach(name: string, state: State, details: Details = {}): void {
    const child = this.find(name);
    if (child === undefined) return;
    if (isTerminal(child.state)) {
      if (child.state !== state) this.#emitState(child, state, details);
      return;
    }
    const path = legalPath(child.state, state);
    for (const between of path.slice(0, -1)) this.#emitState(this.#current(child), between, { inferred: true });
    if (path.length > 0) this.#emitState(this.#current(child), state, details);
  }

  activity(name: string, text: string, details: Details = {}): void {
    const child = this.find(name);
    if (child !== undefined) this.#emit(child, "activity", undefined, details, text);
  }

  heartbeat(name: string): void {
    const child = this.find(name);
    if (child !== undefined) this.#emit(child, "heartbeat", undefined, {});
  }

  /** Changes what is noted about a child. */
  noteOn(name: string, notes: Notes): void {
    const child = this.find(name);
    if (child !== undefined) this.#keep({ ...child, notes: { ...child.notes, ...notes } });
  }

  know(name: string, capabilities: Partial<Capabilities>): void {
    const child = this.find(name);
    if (child !== undefined) this.#keep({ ...child, capabilities: { ...child.capabilities, ...capabilities } });
  }

  /** The child's source began its account anew; what comes next is in a new epoch. Says nothing by itself. */
  renewEpoch(name: string): void {
    const child = this.findLive(name);
    if (child === undefined) return;
    const run = typeof child.notes.run === "number" ? child.notes.run + 1 : 1;
    const sourceEpoch = `${this.#state.sourceEpoch}/${run}`;
    this.#keep({ ...child, sourceEpoch, nextSequence: 0, notes: { ...child.notes, run } });
  }

  /** Something is wrong with what was said. With a child, it is shown there too. */
  diagnose(code: AdapterDiagnosticCode, text: string, name?: string, facts: Details = {}): void {
    const child = name === undefined ? undefined : this.find(name);
    const bounded = cutText(redactText(text), MAX_EXCERPT_LENGTH * 2);
    if (this.#diagnostics.length < MAX_DIAGNOSTICS) {
      this.#diagnostics.push({
        code,
        text: bounded,
        ...(child === undefined ? undefined : { childId: child.childId }),
      });
    }
    if (child !== undefined) this.#emit(child, "diagnostic", undefined, { code, ...facts }, `${code}: ${bounded}`);
  }

  /** Whoever can should ask an authority about the child; no state follows. */
  hintReconciliation(name: string, reason: string): void {
    const child = this.findLive(name);
    if (child !== undefined) this.#emit(child, "reconciliation", undefined, { reason }, `to be reconciled: ${reason}`);
  }

  /**
   * Sets an input aside that is about nobody who is known, and tells of it under `aboutName`. It refreshes nobody.
   * @returns how many there are by now.
   */
  quarantine(unknownName: string, input: AdapterInput, aboutName: string | undefined): number {
    const before = this.#quarantined.get(unknownName) ?? { count: 0, inputs: [] };
    const count = before.count + 1;
    const inputs = count <= MAX_QUARANTINED_INPUTS ? [...before.inputs, input] : before.inputs;
    this.#quarantined.set(unknownName, { count, inputs });
    if (count <= TOLD_ONE_BY_ONE || (count & (count - 1)) === 0) {
      this.diagnose("activity_for_unknown_child", `${unknownName}: ${count} so far`, aboutName, { count });
    }
    return count;
  }

  /** What was set aside about a child that has begun now; it is handed out once. */
  released(name: string): readonly AdapterInput[] {
    const inputs = this.#quarantined.get(name)?.inputs ?? [];
    this.#quarantined.delete(name);
    return inputs;
  }

  finish(): AdapterResult {
    return {
      state: {
        ...this.#state,
        live: this.#live.current,
        ended: this.#ended.current,
        aliases: this.#aliases.current,
        quarantined: this.#quarantined.current,
        notes: this.#notes,
      },
      events: this.#events,
      diagnostics: this.#diagnostics,
    };
  }

  #begin(child: TrackedChild, beginning: Omit<Beginning, "parentKey">): TrackedChild {
    const { state = "created", details = {} } = beginning;
    if (beginning.adopted === true && !isTerminal(state)) this.#emitState(child, state, details);
    else {
      this.#emitState(
        child,
        "created",
        state === "created" && beginning.inferred !== true ? details : { ...details, inferred: true },
      );
      this.reach(child.key, state);
    }
    return this.#current(child);
  }

  #emitState(child: TrackedChild, state: State, details: Details): void {
    // The record moves first: the event that states an end is the last one of a live child.
    const kind = state === "created" ? "created" : isTerminal(state) ? "terminal" : "state_changed";
    this.#emit(isTerminal(child.state) ? child : { ...child, state }, kind, state, details);
  }

  #emit(child: TrackedChild, kind: EventKind, state: State | undefined, details: Details, activity?: string): void {
    const sequence = child.nextSequence;
    const normalized = normalizeEvent({
      schemaVersion: SCHEMA_VERSION,
      eventId: `${cutText(child.childId, 200)}/${sequence}/${child.notes.run ?? 0}`,
      source: this.#state.source,
      sourceEpoch: child.sourceEpoch,
      childId: child.childId,
      lineage: stated({
        rootChildId: child.rootChildId,
        attempt: child.attempt,
        external: child.adoptedAt !== undefined,
        parentChildId: child.parentChildId,
        adoptedAt: child.adoptedAt,
      }),
      kind,
      state,
      observedAt: formatTimestamp(this.#observedAtMs),
      sequence,
      activity,
      details,
      capabilities: child.capabilities,
    });
    if (!normalized.ok) {
      const { path, text } = normalized.diagnostic;
      this.diagnose("invalid_input", `${path ?? ""} ${text ?? ""}`);
      return;
    }
    this.#events.push(normalized.event);
    this.#keep({ ...child, nextSequence: sequence + 1 });
  }

  #current(child: TrackedChild): TrackedChild {
    return this.find(child.key) ?? child;
  }

  #keep(child: TrackedChild): void {
    if (isTerminal(child.state)) {
      this.#live.delete(child.key);
      this.#ended.set(child.key, child);
      return;
    }
    this.#ended.delete(child.key);
    const forgotten = this.#live.set(child.key, child);
    if (forgotten !== undefined) this.diagnose("too_much_to_remember", `${forgotten.childId} is no longer followed`);
  }

  #keyOf(name: string): string {
    return this.#live.current.has(name) || this.#ended.current.has(name) ? name : (this.#aliases.get(name) ?? name);
  }
}
