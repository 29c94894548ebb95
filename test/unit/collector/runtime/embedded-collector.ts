import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import {
  type Collector,
  type EventOutcome,
  type EventsIntake,
  resolveConfiguration,
  type StatedConfiguration,
  startCollector,
} from "@agent-lifecycle/collector";
import { openSqliteStore } from "@agent-lifecycle/collector/parts";
import {
  type ChildRecord,
  countChange,
  createProjection,
  createSummary,
  restoreChild,
  type Summary,
  serializeProjection,
} from "@agent-lifecycle/collector/projection";
import { canonicalEvent, type LifecycleEvent } from "@agent-lifecycle/proto";
import { onTestFinished } from "vitest";
import { TEST_POLICY } from "../../../kit/core-run.ts";
import { temporaryDirectory } from "../../../kit/event-file.ts";
import { FaultyStore } from "../../../kit/faulty-store.ts";
import { MachineClock } from "./machine-clock.ts";
import { ManualPace } from "./manual-pace.ts";

export const RECEIVER = "test";

/** A look is never late by this, so that a test may let any time pass between two. */
const ONE_DAY_MS = 86_400_000;

/** A whole collector on a real database, with clocks, pace and faults in a test's hands. */
export interface EmbeddedCollector {
  readonly collector: Collector;
  readonly database: string;
  readonly clock: MachineClock;
  readonly pace: ManualPace;
  readonly faults: FaultyStore;
  /** Takes what was logged as a fault since the last call; what is left at the end fails the test. */
  takeLoggedFaults(): readonly string[];
}

export interface EmbeddedOptions {
  readonly database?: string;
  readonly clock?: MachineClock;
  readonly configuration?: StatedConfiguration;
}

export async function startEmbedded(options: EmbeddedOptions = {}): Promise<EmbeddedCollector> {
  const { database = temporaryDatabase(), clock = new MachineClock() } = options;
  const pace = new ManualPace();
  const faults = new FaultyStore(openSqliteStore({ path: database, synchronous: "normal" }));
  let logged: string[] = [];
  const { configuration } = resolveConfiguration({
    receivers: { otlp: { protocols: { http: { endpoint: { port: 0 } }, grpc: null } } },
    api: { endpoint: { port: 0 } },
    lifecycle: { ...TEST_POLICY, checkIntervalMs: ONE_DAY_MS },
    ...options.configuration,
  });
  const collector = await startCollector(configuration, {
    log: { info: () => {}, error: (members) => void logged.push(JSON.stringify(members)) },
    clock,
    store: faults.store,
    schedule: pace.schedule,
  });
  onTestFinished(async () => {
    await collector.shutdown();
    if (logged.length > 0) throw new Error(`unexpected faults: ${logged.join("\n")}`);
  });
  const takeLoggedFaults = (): readonly string[] => {
    const taken = logged;
    logged = [];
    return taken;
  };
  return { collector, database, clock, pace, faults, takeLoggedFaults };
}

export function temporaryDatabase(): string {
  return join(temporaryDirectory(), "collector.db");
}

/** A copy of the database as it would be found had its collector crashed at this moment. */
export function databaseAfterCrash(database: string): string {
  const copy = temporaryDatabase();
  for (const suffix of ["", "-wal"]) {
    if (existsSync(`${database}${suffix}`)) copyFileSync(`${database}${suffix}`, `${copy}${suffix}`);
  }
  return copy;
}

/** Events as a receiver hands them over. */
export function candidatesOf(events: readonly LifecycleEvent[]): readonly unknown[] {
  return events.map((event) => JSON.parse(canonicalEvent(event)) as unknown);
}

export function offer(
  { collector }: Pick<EmbeddedCollector, "collector">,
  events: readonly LifecycleEvent[],
  bytes = 0,
): Promise<EventsIntake> {
  return collector.intake.acceptEvents(candidatesOf(events), { receiver: RECEIVER, backfill: false, bytes });
}

/** Offers events that are to be stored, and returns what became of each. @throws when they are refused. */
export async function store(
  embedded: Pick<EmbeddedCollector, "collector">,
  ...events: readonly LifecycleEvent[]
): Promise<readonly EventOutcome["status"][]> {
  const answer = await offer(embedded, events);
  if (answer.kind !== "stored") throw new Error(`refused: ${JSON.stringify(answer)}`);
  return answer.outcomes.map(({ status }) => status);
}

/** What the collector holds of these children, as text. */
export function memoryOf(
  { collector }: Pick<EmbeddedCollector, "collector">,
  childIds: readonly string[],
  sources: readonly string[] = ["runner"],
): readonly string[] {
  const projection = createProjection();
  for (const source of sources) {
    for (const childId of childIds) {
      const record = collector.reader.child(source, childId);
      if (record !== undefined) restoreChild(projection, record);
    }
  }
  return [...serializeProjection(projection)];
}

/** The summary, counted anew from records. */
export function recount(records: Iterable<ChildRecord>): Summary {
  const summary = createSummary();
  for (const after of records) countChange(summary, { before: undefined, after });
  return summary;
}

export async function readiness({
  collector,
}: EmbeddedCollector): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await fetch(new URL("/readyz", collector.apiUrl));
  return { status: response.status, body: await response.json() };
}

/** One value of the metrics exposition. @throws when it is not there. */
export async function metric({ collector }: EmbeddedCollector, name: string): Promise<number> {
  const response = await fetch(new URL("/metrics", collector.apiUrl));
  const line = (await response.text()).split("\n").find((text) => text.startsWith(`${name} `));
  if (line === undefined) throw new Error(`no metric ${name}`);
  return Number(line.slice(name.length + 1));
}
