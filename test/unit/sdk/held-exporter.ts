import { createLifecycle, type Lifecycle, type LifecycleOptions, type SdkDiagnostic } from "@agent-lifecycle/sdk";
import type { LogRecordExporter, ReadableLogRecord } from "@opentelemetry/sdk-logs";
import { expect, onTestFinished } from "vitest";
import { ManualSdkClock } from "../../kit/manual-sdk-clock.ts";

/** An exporter whose answers wait until the test gives them. */
export class HeldExporter implements LogRecordExporter {
  readonly taken: ReadableLogRecord[][] = [];
  readonly #open: ((succeeds: boolean) => void)[] = [];
  isShutDown = false;

  export(records: ReadableLogRecord[], done: Parameters<LogRecordExporter["export"]>[1]): void {
    this.taken.push(records);
    this.#open.push((succeeds) => done(succeeds ? { code: 0 } : { code: 1, error: new Error("refused") }));
  }

  get inFlight(): number {
    return this.#open.length;
  }

  /** Answers the oldest open batch. */
  answer(succeeds = true): void {
    this.#open.shift()?.(succeeds);
  }

  sequences(): readonly unknown[] {
    return this.taken.flat().map((record) => record.attributes["agent_lifecycle.sequence"]);
  }

  forceFlush(): Promise<void> {
    return Promise.resolve();
  }

  shutdown(): Promise<void> {
    this.isShutDown = true;
    return Promise.resolve();
  }
}

export interface Held {
  readonly lifecycle: Lifecycle;
  readonly exporter: HeldExporter;
  readonly clock: ManualSdkClock;
  readonly diagnostics: readonly SdkDiagnostic[];
}

export function held(delivery: LifecycleOptions["delivery"], options: Partial<LifecycleOptions> = {}): Held {
  const exporter = new HeldExporter();
  const clock = new ManualSdkClock();
  const diagnostics: SdkDiagnostic[] = [];
  const lifecycle = createLifecycle(
    {
      source: "unit",
      exporter,
      exitHooks: false,
      heartbeatIntervalMs: 0,
      onDiagnostic: (each) => diagnostics.push(each),
      ...(delivery === undefined ? undefined : { delivery }),
      ...options,
    },
    { clock, environment: {} },
  );
  onTestFinished(async () => {
    const closed = lifecycle.shutdown({ timeoutMs: 0 });
    await clock.advance(1_000);
    await closed;
  });
  return { lifecycle, exporter, clock, diagnostics };
}

/** So many events of a new child. */
export function beat(lifecycle: Lifecycle, times: number): void {
  const child = lifecycle.child();
  for (let index = 1; index < times; index += 1) child.heartbeat();
}

/** Every event is in exactly one counter. */
export function expectAccounted(lifecycle: Lifecycle): void {
  const counters = lifecycle.counters();
  const dropped = Object.values(counters.dropped).reduce((sum, count) => sum + count, 0);
  const { buffered, exported, spooled, writtenToJsonl, handedToHost, suppressed } = counters;
  expect(buffered + exported + spooled + writtenToJsonl + handedToHost + suppressed + dropped).toBe(counters.emitted);
}
