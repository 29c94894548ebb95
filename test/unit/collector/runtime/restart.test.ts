import { openSqliteStore, verifyStore } from "@agent-lifecycle/collector/parts";
import {
  createProjection,
  foldResumed,
  reconciliationOutcome,
  restoreChild,
  restoreSnapshotEpoch,
  serializeProjection,
} from "@agent-lifecycle/collector/projection";
import { isTerminal } from "@agent-lifecycle/proto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { CoreRun } from "../../../kit/core-run.ts";
import { arbitraryHistory, type HistoryStep } from "../../../kit/histories.ts";
import {
  candidatesOf,
  databaseAfterCrash,
  type EmbeddedCollector,
  memoryOf,
  RECEIVER,
  recount,
  startEmbedded,
} from "./embedded-collector.ts";
import { MachineClock } from "./machine-clock.ts";

/** What happens to the collector after a step of a history. */
type Incident = "none" | "checkpoint" | "restart" | "crash";

const incidents: fc.Arbitrary<Incident> = fc.oneof(
  { arbitrary: fc.constant<Incident>("none"), weight: 12 },
  { arbitrary: fc.constant<Incident>("checkpoint"), weight: 3 },
  { arbitrary: fc.constantFrom<Incident>("restart", "crash"), weight: 1 },
);

/** A collector that is stopped, killed and started again, step by step with one core that never stops. */
class Twins {
  readonly never: CoreRun = new CoreRun();
  readonly clock: MachineClock = new MachineClock();
  #embedded: EmbeddedCollector;
  readonly #seen = new Map<string, Set<string>>();

  private constructor(embedded: EmbeddedCollector, clock: MachineClock) {
    this.#embedded = embedded;
    this.clock = clock;
    this.#resumed();
  }

  static async start(): Promise<Twins> {
    const clock = new MachineClock();
    return new Twins(await startEmbedded({ clock }), clock);
  }

  async take(step: HistoryStep): Promise<void> {
    // Verdicts are the collector's own: both find them in their looks.
    if (step.type === "reconciliation" || step.type === "resumed") return;
    this.clock.pass(step.at - this.clock.wallNow());
    const { intake } = this.#embedded.collector;
    const origin = { receiver: RECEIVER, backfill: false, bytes: 0 };
    switch (step.type) {
      case "event": {
        this.#note(step.event.source, step.event.childId);
        const expected = this.never.take(step);
        const answer = await intake.acceptEvents(candidatesOf([step.event]), { ...origin, backfill: step.backfill });
        if (answer.kind !== "stored") expect.fail(answer.kind);
        expect(answer.outcomes.map(({ status }) => status)).toEqual([expected.status]);
        return;
      }
      case "snapshot": {
        for (const { childId } of step.snapshot.children) this.#note(step.snapshot.source, childId);
        const expected = this.never.take(step);
        expect(await intake.acceptSnapshot(step.snapshot, origin)).toMatchObject({ status: expected.status });
        return;
      }
      case "tick":
        this.#look(step.at);
        await this.#embedded.pace.next();
    }
  }

  async meet(incident: Incident): Promise<void> {
    const { collector, database } = this.#embedded;
    if (incident === "none") return;
    if (incident === "checkpoint") {
      expect(collector.reader.children({ limit: 1_000 })).toHaveLength(collector.reader.summary().started);
      return;
    }
    const found = incident === "crash" ? databaseAfterCrash(database) : database;
    await collector.shutdown();
    this.#embedded = await startEmbedded({ database: found, clock: this.clock });
    this.#resumed();
    this.expectAlike();
  }

  expectAlike(): void {
    const { collector } = this.#embedded;
    const held = [...this.#seen].flatMap(([source, childIds]) => memoryOf(this.#embedded, [...childIds], [source]));
    const expected = createProjection();
    for (const record of this.never.records()) restoreChild(expected, record);
    expect(held.toSorted()).toEqual([...serializeProjection(expected)].toSorted());
    expect(collector.reader.summary()).toEqual(recount(this.never.records()));
  }

  /** The end: the whole stored projection, snapshot epochs included, is the one of the twin. */
  async end(): Promise<void> {
    this.expectAlike();
    await this.#embedded.collector.shutdown();
    const store = openSqliteStore({ path: this.#embedded.database, readOnly: true });
    try {
      const projection = createProjection();
      const { resumption, snapshotEpochs } = store.loadCheckpoint();
      for (const { record, updatedInputId } of store.everyChild()) {
        const isMoved = resumption !== undefined && updatedInputId < resumption.inputId;
        restoreChild(projection, isMoved ? foldResumed(record, resumption.at) : record);
      }
      for (const [source, epoch] of snapshotEpochs) {
        restoreSnapshotEpoch(projection, source, epoch);
      }
      expect([...serializeProjection(projection)]).toEqual(this.never.serialized());
      expect(verifyStore(store)).toMatchObject({ agrees: true, differences: [] });
    } finally {
      store.close();
    }
  }

  #note(source: string, childId: string): void {
    const known = this.#seen.get(source);
    if (known === undefined) this.#seen.set(source, new Set([childId]));
    else known.add(childId);
  }

  #resumed(): void {
    this.never.take({ type: "resumed", at: this.clock.wallNow() });
  }

  /** One look, as the loop has it: first who is silent, then whose deadline has come. */
  #look(now: number): void {
    this.never.take({ type: "tick", at: now });
    for (const { source, childId } of this.never.liveness.dueReconciliations(now)) {
      const record = this.never.child(source, childId);
      if (record === undefined || isTerminal(record.state)) continue;
      this.never.fold({ type: "reconciliation", source, childId, ...reconciliationOutcome(record, "none"), at: now });
    }
  }
}

test("checkpoints, restarts and crashes at any points of any history change nothing", {
  timeout: 240_000,
}, async () => {
  let restarts = 0;
  await fc.assert(
    fc.asyncProperty(arbitraryHistory(), fc.infiniteStream(incidents), async (history, stream) => {
      const twins = await Twins.start();
      for (const step of history) {
        await twins.take(step);
        const incident = stream.next().value ?? "none";
        if (incident === "restart" || incident === "crash") restarts += 1;
        await twins.meet(incident);
      }
      await twins.end();
    }),
    { numRuns: 60 },
  );
  // Without restarts, nothing was tested.
  expect(restarts).toBeGreaterThan(30);
});
