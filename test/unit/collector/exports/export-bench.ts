import type { ExportBatch, Exporter, ExportOutcome } from "@agent-lifecycle/collector";
import {
  createUpdateFeed,
  type ExportCursors,
  ExportLoop,
  type ExportLoopOptions,
  type StoredAudit,
  type StoredInput,
  type UpdatePublisher,
} from "@agent-lifecycle/collector/parts";
import { onTestFinished } from "vitest";
import { ManualTimers } from "../../../kit/manual-timers.ts";

/** A log in memory that a test appends to. */
export class MemoryLog {
  readonly updates: UpdatePublisher = createUpdateFeed((error) => {
    throw error;
  });
  audits: StoredAudit[] = [];
  #inputs: StoredInput[] = [];
  #lastInputId = 0;

  /** Stores inputs, and says so. */
  append(count: number): void {
    for (let index = 0; index < count; index += 1) {
      this.#lastInputId += 1;
      this.#inputs.push({
        inputId: this.#lastInputId,
        input: { type: "resumed", at: this.#lastInputId },
        status: "applied",
        diagnostic: undefined,
      });
    }
    this.updates.publish([{ inputId: this.#lastInputId, changes: [], audit: [] }]);
  }

  /** As retention does. */
  removeThrough(inputId: number): void {
    this.#inputs = this.#inputs.filter((input) => input.inputId > inputId);
  }

  *inputs(afterInputId: number): Iterable<StoredInput> {
    for (const input of this.#inputs) if (input.inputId > afterInputId) yield input;
  }

  audit({ afterInputId, limit }: { readonly afterInputId: number; readonly limit: number }): readonly StoredAudit[] {
    return this.audits.filter(({ inputId }) => inputId > afterInputId).slice(0, limit);
  }

  lastInputId(): number {
    return this.#lastInputId;
  }
}

/** Cursors in memory, which outlive a loop. */
export class MemoryCursors implements ExportCursors {
  saved = 0;
  failure: Error | undefined;
  /** Awaited before a cursor is kept. */
  gate: Promise<void> = Promise.resolve();
  saves = 0;

  async load(): Promise<number> {
    return this.saved;
  }

  async save(_exporter: string, inputId: number): Promise<void> {
    this.saves += 1;
    await this.gate;
    if (this.failure !== undefined) throw this.failure;
    this.saved = inputId;
  }
}

/** A destination that does what a test says: outcomes are taken one by one, then everything is delivered. */
export class ScriptedExporter implements Exporter {
  readonly batches: ExportBatch[] = [];
  readonly signals: AbortSignal[] = [];
  readonly outcomes: (ExportOutcome | Error)[] = [];
  /** Awaited before an answer. */
  gate: Promise<void> = Promise.resolve();
  isStarted = false;
  shutdowns = 0;
  readonly #watchers = new Set<() => void>();

  /** Ids that were delivered, in order. */
  readonly delivered: number[] = [];

  async start(): Promise<void> {
    this.isStarted = true;
  }

  async shutdown(): Promise<void> {
    this.shutdowns += 1;
  }

  async export(batch: ExportBatch, signal: AbortSignal): Promise<ExportOutcome> {
    this.batches.push(batch);
    this.signals.push(signal);
    for (const watcher of this.#watchers) watcher();
    await this.gate;
    const outcome = this.outcomes.shift() ?? { kind: "delivered" };
    if (outcome instanceof Error) throw outcome;
    if (outcome.kind === "delivered") this.delivered.push(...batch.inputs.map(({ inputId }) => inputId));
    for (const watcher of this.#watchers) watcher();
    return outcome;
  }

  /** Resolves when it is so; looked at whenever a batch comes or goes. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!condition()) return;
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }
}

export interface ExportBench {
  readonly loop: ExportLoop;
  readonly log: MemoryLog;
  readonly cursors: MemoryCursors;
  readonly exporter: ScriptedExporter;
  readonly timers: ManualTimers;
  /** Messages, in order. */
  readonly logged: string[];
  readonly counted: Record<string, number>;
}

/** A loop over parts in a test's hands, not started yet. It is shut down after the test. */
export function exportBench(
  members: Partial<Pick<ExportBench, "log" | "cursors" | "exporter">> = {},
  options: Partial<ExportLoopOptions> = {},
): ExportBench {
  const { log = new MemoryLog(), cursors = new MemoryCursors(), exporter = new ScriptedExporter() } = members;
  const timers = new ManualTimers();
  const logged: string[] = [];
  const counted: Record<string, number> = {};
  const count =
    (name: string) =>
    (_id: string, inputs = 1): void => {
      counted[name] = (counted[name] ?? 0) + inputs;
    };
  const note = (_members: object, message: string): void => void logged.push(message);
  const loop = new ExportLoop({
    id: "module/mine",
    exporter,
    exportLog: log,
    updates: log.updates,
    cursors,
    log: { info: note, error: note },
    schedule: timers.schedule,
    random: () => 1,
    telemetry: {
      countExported: count("exported"),
      countRefused: count("refused"),
      countMissed: count("missed"),
      countRetry: count("retries"),
      countRecords: (_id, outcome, records) => count(outcome)("", records),
      setLag: (_id, inputs) => {
        counted["lag"] = inputs;
      },
    },
    ...options,
  });
  onTestFinished(() => loop.shutdown());
  return { loop, log, cursors, exporter, timers, logged, counted };
}
