import { formatTimestamp, type LifecycleEvent, normalizeEvent, validEvent } from "@agent-lifecycle/proto";
import {
  type Adapter,
  type AdapterDiagnostic,
  type AdapterState,
  emptyAdapterState,
  parseAdapterState,
  type StreamEnd,
  serializeAdapterState,
} from "@agent-lifecycle/sdk/adapters";
import { deepFreeze } from "./deep-freeze.ts";
import { START_MS } from "./start-time.ts";

/** An adapter that is given one input after the other. */
export class AdapterRun {
  readonly events: LifecycleEvent[] = [];
  readonly diagnostics: AdapterDiagnostic[] = [];
  readonly #adapter: Adapter;
  #state: AdapterState;

  constructor(adapter: Adapter) {
    this.#adapter = adapter;
    this.#state = emptyAdapterState("watched", "run");
  }

  get state(): AdapterState {
    return this.#state;
  }

  /** `at`: seconds after the start. */
  at(at: number, ...values: readonly unknown[]): this {
    for (const value of values) {
      const before = this.#state;
      const unchanged = serializeAdapterState(before);
      this.#keep(this.#adapter.map(before, deepFreeze({ value, observedAtMs: START_MS + at * 1_000 })));
      if (serializeAdapterState(before) !== unchanged) throw new Error("the state that was given has been changed");
    }
    return this;
  }

  end(end: Omit<StreamEnd, "observedAtMs"> & { readonly at?: number } = {}): this {
    const { at = 1_000, ...ending } = end;
    this.#keep(this.#adapter.end(this.#state, { observedAtMs: START_MS + at * 1_000, ...ending }));
    return this;
  }

  /** As a later process that reads on: all it has is what was kept. */
  restarted(): this {
    this.#state = parseAdapterState(serializeAdapterState(this.#state));
    return this;
  }

  of(childId: string): readonly LifecycleEvent[] {
    return this.events.filter((event) => event.childId === childId);
  }

  /** The states of a child as they were told; those that are inferred with a question mark. */
  states(childId: string): readonly string[] {
    return this.of(childId).flatMap(({ state, details }) =>
      state === undefined ? [] : [details?.inferred === true ? `${state}?` : state],
    );
  }

  last(childId: string): LifecycleEvent | undefined {
    return this.of(childId).at(-1);
  }

  codes(): readonly string[] {
    return this.diagnostics.map(({ code }) => code);
  }

  children(): readonly string[] {
    return [...new Set(this.events.map(({ childId }) => childId))];
  }

  #keep({ state, events, diagnostics }: ReturnType<Adapter["map"]>): void {
    this.#state = state;
    for (const event of events) {
      const again = normalizeEvent(JSON.parse(JSON.stringify(event)));
      if (!again.ok || !validEvent(event)) throw new Error(`not an event: ${JSON.stringify(event)}`);
      this.events.push(event);
    }
    this.diagnostics.push(...diagnostics);
  }
}

export function secondsAfterStart(at: number): string {
  return formatTimestamp(START_MS + at * 1_000);
}
