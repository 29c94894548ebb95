import { type Clock, StoreUnavailableError } from "@agent-lifecycle/collector";
import {
  Authorities,
  type Authority,
  createMetrics,
  Door,
  LivenessLoop,
  openSqliteStore,
  ProjectionState,
  Retention,
  type Schedule,
  type Store,
  verifyStore,
  Writer,
} from "@agent-lifecycle/collector/parts";
import { childrenOf, type FoldResult, Liveness } from "@agent-lifecycle/collector/projection";
import { TEST_POLICY } from "../kit/core-run.ts";
import { FaultyStore } from "../kit/faulty-store.ts";
import type { Sabotage } from "./sabotage.ts";
import type { SimulatedMachine } from "./simulated-machine.ts";

/** Well below `staleAfterMs`, or the loop would not be asked to judge it. */
export const CHECK_INTERVAL_MS = 1_000;
const MAX_LATENESS_MS = 2_000;
const RETENTION_INTERVAL_MS = 7_000;
/** Few, so that a round has many steps between which anything may happen. */
const INPUTS_PER_STEP = 3;

/** Makes the authorities of one process. What they set in time is gone with it. */
export type MakeAuthorities = (parts: {
  readonly intake: Door;
  readonly clock: Clock;
  readonly schedule: Schedule;
}) => readonly Authority[];

/** The parts of a collector that decide what becomes of evidence, on a disk that survives them. */
export class SimulatedCollector {
  readonly faults: FaultyStore;
  readonly #disk: Store;
  readonly #machine: SimulatedMachine;
  readonly #maxAgeMs: number | undefined;
  readonly #makeAuthorities: MakeAuthorities;
  readonly #sabotage: Sabotage;
  #running: RunningCollector | undefined;

  /** @param maxAgeMs of inputs; `undefined`: everything is kept */
  constructor(
    machine: SimulatedMachine,
    maxAgeMs: number | undefined,
    makeAuthorities: MakeAuthorities = () => [],
    sabotage: Sabotage = {},
  ) {
    this.#sabotage = sabotage;
    this.#machine = machine;
    this.#maxAgeMs = maxAgeMs;
    this.#makeAuthorities = makeAuthorities;
    this.#disk = openSqliteStore({ path: ":memory:" });
    this.faults = new FaultyStore(this.#disk);
  }

  get store(): Store {
    return this.#disk;
  }

  /** `undefined` while it is down. */
  get running(): RunningCollector | undefined {
    return this.#running;
  }

  start(): void {
    this.#running = new RunningCollector(
      this.faults.store,
      this.#machine,
      this.#maxAgeMs,
      this.#makeAuthorities,
      this.#sabotage,
    );
  }

  /** The process is gone: what was not committed never happened, and nobody is answered any more. */
  crash(): void {
    this.#running?.abandon();
    this.#running = undefined;
    this.#disk.rollback();
  }

  async stop(): Promise<void> {
    await this.#running?.close();
    this.#running = undefined;
  }

  verify(): ReturnType<typeof verifyStore> {
    return verifyStore(this.#disk);
  }

  dispose(): void {
    this.crash();
    this.#disk.close();
  }
}

export class RunningCollector {
  readonly door: Door;
  readonly state: ProjectionState;
  readonly writer: Writer;
  readonly authorities: Authorities = new Authorities();
  readonly #loop: LivenessLoop;
  readonly #retention: Retention;
  #cancels = new Set<() => void>();
  #isAbandoned = false;
  readonly errors: unknown[] = [];

  constructor(
    disk: Store,
    machine: SimulatedMachine,
    maxAgeMs: number | undefined,
    makeAuthorities: MakeAuthorities,
    sabotage: Sabotage,
  ) {
    const policy = sabotage.policy?.(TEST_POLICY) ?? TEST_POLICY;
    const clock = sabotage.clock?.(machine) ?? machine;
    const store = this.#untilAbandoned(sabotage.store?.(disk) ?? disk);
    this.state = new ProjectionState(store);
    const liveness = new Liveness(() => policy);
    for (const record of childrenOf(this.state.projection)) liveness.observe({ before: undefined, after: record });
    const { telemetry } = createMetrics();
    const onError = (error: unknown): void => void this.errors.push(error);
    this.writer = new Writer({
      store,
      state: this.state,
      clock,
      telemetry,
      publisher: { publish: () => {}, subscribe: () => () => {} },
      snapshotPolicyOf: () => policy,
      onFolded: ({ changes }: FoldResult) => {
        for (const change of changes) {
          liveness.observe(change);
          this.authorities.observe(change);
        }
      },
      onError: (_message, error) => onError(error),
      onRecovery: () => {},
    });
    const schedule: Schedule = (run, delayMs) => {
      const cancel = machine.schedule(() => {
        this.#cancels.delete(cancel);
        if (!this.#isAbandoned) run();
      }, delayMs);
      this.#cancels.add(cancel);
      return cancel;
    };
    this.door = new Door({ writer: this.writer, clock, telemetry, authorities: this.authorities });
    for (const authority of makeAuthorities({ intake: this.door, clock, schedule })) this.authorities.add(authority);
    this.#loop = new LivenessLoop({
      clock,
      liveness,
      child: (source, childId) => this.state.child(source, childId),
      submit: (verdicts) => (this.#isAbandoned ? new Promise(() => {}) : this.writer.submitVerdicts(verdicts)),
      isReceiving: () => this.writer.unavailable === undefined,
      answerAbout: (record) => this.authorities.answerAbout(record),
      onResumed: () => this.authorities.resumed(),
      onError,
      intervalMs: CHECK_INTERVAL_MS,
      maxLatenessMs: MAX_LATENESS_MS,
      schedule,
    });
    this.#retention = new Retention({
      store,
      state: this.state,
      writer: this.writer,
      clock,
      publisher: { publish: () => {} },
      telemetry,
      limits: { maxAgeMs, maxSizeBytes: undefined },
      intervalMs: RETENTION_INTERVAL_MS,
      inputsPerStep: INPUTS_PER_STEP,
      onError: (_message, error) => onError(error),
      schedule,
    });
    void this.#loop.start();
    void this.authorities.start();
    if (maxAgeMs !== undefined) void this.#retention.start();
  }

  /** Nobody writes any more, whatever was already under way in this process. */
  #untilAbandoned(disk: Store): Store {
    return new Proxy(disk, {
      get: (target, name) => {
        if (this.#isAbandoned && name === "rollback") return () => {};
        if (this.#isAbandoned && name !== "explain") throw new StoreUnavailableError("this process is gone", true);
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === "function" ? (member.bind(target) as unknown) : member;
      },
    });
  }

  abandon(): void {
    this.#isAbandoned = true;
    for (const cancel of this.#cancels) cancel();
  }

  async close(): Promise<void> {
    await this.#loop.shutdown();
    await this.authorities.shutdown();
    await this.#retention.shutdown();
    await this.writer.close();
  }
}
