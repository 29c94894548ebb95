import {
  createMetrics,
  Door,
  openSqliteStore,
  ProjectionState,
  Retention,
  type RetentionLimits,
  type Store,
  verifyStore,
  Writer,
} from "@agent-lifecycle/collector/parts";
import type { FoldResult } from "@agent-lifecycle/collector/projection";
import type { LifecycleEvent } from "@agent-lifecycle/proto";
import { expect, onTestFinished } from "vitest";
import { TEST_POLICY } from "../../../kit/core-run.ts";
import { makeEvent } from "../../../kit/events.ts";
import { FaultyStore } from "../../../kit/faulty-store.ts";
import { START_MS } from "../../../kit/start-time.ts";
import { candidatesOf } from "./embedded-collector.ts";
import { MachineClock } from "./machine-clock.ts";

const INPUTS_PER_STEP = 7;

/** What retention works on, with a clock that a test moves. */
export class RetainedStorage {
  readonly clock = new MachineClock();
  readonly faults: FaultyStore;
  readonly faultsTold: string[] = [];
  readonly #limits: RetentionLimits;
  readonly #metrics = createMetrics();
  #parts: Parts;
  #isClosed = false;

  /** @param real default: one in memory. It is closed when the test ends, if not before. */
  constructor(limits: Partial<RetentionLimits>, real: Store = openSqliteStore({ path: ":memory:" })) {
    this.#limits = { maxAgeMs: undefined, maxSizeBytes: undefined, ...limits };
    this.faults = new FaultyStore(real);
    this.#parts = this.#assemble();
    onTestFinished(() => this.close());
  }

  get state(): ProjectionState {
    return this.#parts.state;
  }

  get writer(): Writer {
    return this.#parts.writer;
  }

  get door(): Door {
    return this.#parts.door;
  }

  get retention(): Retention {
    return this.#parts.retention;
  }

  /** Called for every fold that is stored. */
  onFolded: (result: FoldResult) => void = () => {};

  /** Safe twice. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.faults.store.close();
  }

  /** Forgets everything but the store, as a collector that was killed and starts again. */
  restart(): void {
    this.#parts = this.#assemble();
  }

  async take(...events: readonly LifecycleEvent[]): Promise<readonly string[]> {
    const answer = await this.door.acceptEvents(candidatesOf(events), { receiver: "test", backfill: false, bytes: 1 });
    if (answer.kind !== "stored") throw new Error(JSON.stringify(answer));
    return answer.outcomes.map(({ status, diagnostics }) => diagnostics[0]?.code ?? status);
  }

  /** Events of a child from its beginning to `last`, observed now. */
  live(childId: string, last: "running" | "completed"): readonly LifecycleEvent[] {
    const at = this.clock.wallNow() - START_MS;
    return (["created", "starting", "running", "completed"] as const)
      .slice(0, last === "running" ? 3 : 4)
      .map((state, sequence) => makeEvent({ childId, state, sequence, at }));
  }

  stateOf(childId: string): string | undefined {
    return this.state.child("runner", childId)?.state;
  }

  expectProven(): void {
    this.writer.checkpoint();
    expect(verifyStore(this.faults.store)).toMatchObject({ agrees: true });
    const { started, live, byState } = this.state.summary;
    expect(started).toBe(live + byState.completed + byState.failed + byState.cancelled + byState.lost);
  }

  #assemble(): Parts {
    const { clock } = this;
    const { store } = this.faults;
    const { telemetry } = this.#metrics;
    const state = new ProjectionState(store);
    const publisher = { publish: () => {}, subscribe: () => () => {} };
    const onError = (message: string): void => void this.faultsTold.push(message);
    const writer = new Writer({
      store,
      state,
      clock,
      telemetry,
      publisher,
      snapshotPolicyOf: () => TEST_POLICY,
      onFolded: (result) => this.onFolded(result),
      onError,
    });
    const retention = new Retention({
      store,
      state,
      writer,
      clock,
      publisher,
      telemetry,
      onError,
      limits: this.#limits,
      inputsPerStep: INPUTS_PER_STEP,
      schedule: (callback) => {
        const immediate = setImmediate(callback);
        return () => clearImmediate(immediate);
      },
    });
    return { state, writer, door: new Door({ writer, clock, telemetry }), retention };
  }
}

interface Parts {
  readonly state: ProjectionState;
  readonly writer: Writer;
  readonly door: Door;
  readonly retention: Retention;
}
