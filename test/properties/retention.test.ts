import { advanceLog, type StoredInput } from "@agent-lifecycle/collector/parts";
import {
  childOf,
  childrenOf,
  createProjection,
  fold,
  forgetChild,
  Liveness,
  type Projection,
  serializeProjection,
} from "@agent-lifecycle/collector/projection";
import { canonicalJson, isTerminal } from "@agent-lifecycle/proto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { TEST_POLICY } from "../kit/core-run.ts";
import { arbitraryHistory, type HistoryStep } from "../kit/histories.ts";
import { recount } from "../unit/collector/runtime/embedded-collector.ts";
import { RetainedStorage } from "../unit/collector/runtime/retained-storage.ts";

const RUNS = 300;

/** What may happen between two steps of a history. */
interface Interruption {
  readonly afterStep: number;
  readonly kind: "retain" | "crash while retaining" | "restart";
  readonly inputs: number;
}

const interruptions: fc.Arbitrary<readonly Interruption[]> = fc.array(
  fc.record({
    afterStep: fc.nat({ max: 90 }),
    kind: fc.constantFrom("retain", "retain", "retain", "crash while retaining", "restart"),
    inputs: fc.integer({ min: 1, max: 25 }),
  }),
  { minLength: 1, maxLength: 12, size: "max" },
);

class CrashError extends Error {}

/**
 * A collector that removes inputs, and beside it a projection that never did: it folds the very inputs that were stored,
 * and forgets who was let go.
 */
class RetainedRun {
  readonly storage = new RetainedStorage({});
  readonly #complete: Projection = createProjection();
  readonly #letGoKeys = new Set<number>();
  #liveness = this.#watch();
  #folded = 0;
  removed = 0;

  get letGo(): number {
    return this.#letGoKeys.size;
  }

  async take(step: HistoryStep): Promise<void> {
    const { storage } = this;
    storage.clock.pass(step.at - storage.clock.wallNow());
    switch (step.type) {
      case "event":
        await storage.door.acceptEvents([step.event], { receiver: "test", backfill: step.backfill, bytes: 1 });
        break;
      case "snapshot":
        await storage.door.acceptSnapshot(step.snapshot, { receiver: "test", backfill: false, bytes: 1 });
        break;
      case "tick":
        await storage.writer.submitVerdicts(this.#liveness.expire(step.at));
        break;
      case "reconciliation":
      case "resumed":
        await storage.writer.submitVerdicts([step]);
        break;
    }
    this.#follow();
  }

  interrupt({ kind, inputs }: Interruption): void {
    const { storage } = this;
    if (kind === "restart") {
      this.#restart();
      return;
    }
    storage.writer.checkpoint();
    const oldest = [...storage.faults.store.inputs(storage.state.removedInputId)].slice(0, inputs);
    if (oldest.length === 0) return;
    if (kind === "crash while retaining") this.#crashWhile(oldest);
    else this.#retain(oldest);
  }

  #retain(oldest: readonly StoredInput[]): void {
    const { storage } = this;
    storage.writer.maintain(() => {
      const advance = advanceLog(storage.faults.store, oldest, storage.clock.wallNow());
      for (const record of advance.letGo) {
        const twin = childOf(this.#complete, record.source, record.childId);
        expect(isTerminal(record.state)).toBe(true);
        expect(canonicalJson(record)).toBe(twin && canonicalJson(twin));
        forgetChild(this.#complete, record);
        this.#letGoKeys.add(record.key);
      }
      storage.state.advanced(advance);
      this.removed += advance.inputs;
    });
  }

  #crashWhile(oldest: readonly StoredInput[]): void {
    const { storage } = this;
    const crash = (): void => {
      advanceLog(storage.faults.store, oldest, storage.clock.wallNow());
      throw new CrashError();
    };
    expect(() => storage.writer.maintain(crash)).toThrow(CrashError);
    this.#restart();
  }

  #restart(): void {
    this.storage.restart();
    this.#liveness = this.#watch();
  }

  #watch(): Liveness {
    const liveness = new Liveness(() => TEST_POLICY);
    for (const record of childrenOf(this.storage.state.projection)) {
      liveness.observe({ before: undefined, after: record });
    }
    this.storage.onFolded = ({ changes }) => {
      for (const change of changes) liveness.observe(change);
    };
    return liveness;
  }

  #follow(): void {
    for (const { inputId, input, status } of this.storage.faults.store.inputs(this.#folded)) {
      this.#folded = inputId;
      expect(fold(this.#complete, input).status).toBe(status);
    }
  }

  /** Nothing tells the two apart but that ids and keys of what is gone are gone. */
  expectSame(): void {
    const { storage } = this;
    storage.expectProven();
    const lines = [...serializeProjection(this.#complete)];
    const records = [...childrenOf(this.#complete)];
    const held = records.map(({ source, childId }) => storage.state.child(source, childId));
    const texts = new Set(lines);
    for (const record of held) expect(texts).toContain(record && canonicalJson(record));
    expect([...storage.faults.store.everyChild()]).toHaveLength(records.length);
    expect(storage.state.summary).toEqual(recount(records));
    expect(storage.state.projection.nextKey).toBe(this.#complete.nextKey);
    const listed = storage.faults.store.children({ limit: 100 }).map(({ key }) => key);
    const rows = records.filter(({ state }) => state !== undefined).map(({ key }) => key);
    expect(listed).toEqual(rows.toSorted((first, second) => second - first));
    expect(listed.filter((key) => this.#letGoKeys.has(key))).toEqual([]);
  }
}

test("whatever is removed, and whenever, changes nothing of what is kept: after every removal, crash and restart", {
  timeout: 120_000,
}, async () => {
  let removed = 0;
  let letGo = 0;
  await fc.assert(
    fc.asyncProperty(arbitraryHistory(), interruptions, async (history, plan) => {
      const run = new RetainedRun();
      for (const [index, step] of history.entries()) {
        await run.take(step);
        for (const interruption of plan.filter(({ afterStep }) => afterStep % history.length === index)) {
          run.interrupt(interruption);
          run.expectSame();
        }
      }
      run.expectSame();
      run.storage.restart();
      run.expectSame();
      removed += run.removed;
      letGo += run.letGo;
    }),
    { numRuns: RUNS },
  );
  // Without these, nothing was tested.
  expect(removed).toBeGreaterThan(RUNS * 5);
  expect(letGo).toBeGreaterThan(RUNS / 10);
});
