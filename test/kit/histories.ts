import type { ReconciliationInput, ResumedInput } from "@agent-lifecycle/collector/projection";
import {
  EVENT_KINDS,
  type LifecycleEvent,
  type LifecycleSnapshot,
  STATES,
  type State,
  TERMINAL_STATES,
} from "@agent-lifecycle/proto";
import fc from "fast-check";
import { makeEvent, makeSnapshot } from "./events.ts";
import { legalStream } from "./legal-stream.ts";
import { START_MS } from "./start-time.ts";

/** One thing that reaches the projection, at a time of the collector's clock that never runs backwards. */
export type HistoryStep =
  | { readonly type: "event"; readonly event: LifecycleEvent; readonly backfill: boolean; readonly at: number }
  | { readonly type: "snapshot"; readonly snapshot: LifecycleSnapshot; readonly at: number }
  | { readonly type: "tick"; readonly at: number }
  | ReconciliationInput
  | ResumedInput;

type Untimed = (at: number) => HistoryStep;

const SOURCES = ["runner", "other"] as const;
const EPOCHS = ["epoch-1", "epoch-2", "epoch-3"] as const;
const CAPABILITIES = ["history", "heartbeat", "cancel"] as const;

/** Mostly the first of the values, so that histories are about few children and long enough to mean something. */
function mostly<Value>(first: Value, ...others: readonly Value[]): fc.Arbitrary<Value> {
  return fc.oneof(
    { arbitrary: fc.constant(first), weight: 6 },
    { arbitrary: fc.constantFrom(first, ...others), weight: 2 },
  );
}

const lineages = fc.oneof(
  { arbitrary: fc.constant({}), weight: 12 },
  { arbitrary: fc.constant({ parentChildId: "boss" }), weight: 3 },
  { arbitrary: fc.constant({ parentChildId: "rival" }), weight: 1 },
  { arbitrary: fc.constant({ attempt: 1 }), weight: 1 },
  { arbitrary: fc.constant({ external: true, adoptedAt: "2026-09-01T09:00:00.000Z" }), weight: 1 },
);

/** Milliseconds after the start at which a source saw something: often whole seconds, so that times collide. */
const observationTimes = fc.integer({ min: 0, max: 150 }).map((seconds) => seconds * 1000);

/** Any events at all: nothing in them need fit together. */
const anyEvent: fc.Arbitrary<LifecycleEvent> = fc
  .record({
    source: mostly<string>(...SOURCES),
    childId: mostly("child-1", "child-2", "adopted"),
    sourceEpoch: mostly<string>(...EPOCHS),
    sequence: fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined, freq: 4 }),
    kind: fc.constantFrom(...EVENT_KINDS),
    state: fc.constantFrom(...STATES),
    end: fc.constantFrom(...TERMINAL_STATES),
    activity: fc.option(fc.constantFrom("reading", "writing"), { nil: undefined }),
    at: observationTimes,
    lineage: lineages,
    known: fc.option(fc.constantFrom(...CAPABILITIES), { nil: undefined }),
  })
  .map(({ kind, state, end, sequence, activity, known, lineage, ...members }) =>
    makeEvent({
      ...members,
      kind,
      lineage: members.childId === "adopted" ? { external: true, ...lineage } : lineage,
      ...(sequence === undefined ? undefined : { sequence }),
      ...(activity === undefined ? undefined : { activity }),
      ...(known === undefined ? undefined : { capabilities: { [known]: "known" } }),
      ...stateOfKind(kind, state, end),
    }),
  );

function stateOfKind(kind: LifecycleEvent["kind"], state: State, end: State): { readonly state?: State } {
  switch (kind) {
    case "created":
      return { state: "created" };
    case "state_changed":
      return { state };
    case "terminal":
      return { state: end };
    default:
      return {};
  }
}

const streamEvents: fc.Arbitrary<readonly LifecycleEvent[]> = fc
  .tuple(
    legalStream(),
    legalStream({ sourceEpoch: "epoch-2", beginsAnywhere: true }),
    legalStream({ childId: "adopted", external: true }),
    fc.array(anyEvent, { maxLength: 4, size: "max" }),
  )
  .map((parts) => parts.flat());

/** Events in nearly their order, some of them twice, some of them never. */
const delivered: fc.Arbitrary<readonly LifecycleEvent[]> = streamEvents.chain((events) =>
  fc
    .array(fc.record({ late: fc.integer({ min: 0, max: 6 }), copies: fc.constantFrom(1, 1, 1, 1, 2, 0) }), {
      minLength: events.length,
      maxLength: events.length,
    })
    .map((fates) =>
      events
        .flatMap((event, index) => {
          const fate = fates[index] ?? { late: 0, copies: 1 };
          return Array.from({ length: fate.copies }, (_, copy) => ({ event, order: index + fate.late * (copy + 1) }));
        })
        .toSorted((first, second) => first.order - second.order)
        .map(({ event }) => event),
    ),
);

const eventSteps: fc.Arbitrary<Untimed> = fc
  .record({ event: anyEvent, backfill: mostly(false, true) })
  .map(({ event, backfill }) => (at) => ({ type: "event", event, backfill, at }));

const snapshotSteps: fc.Arbitrary<Untimed> = fc
  .record({
    source: mostly<string>(...SOURCES),
    sourceEpoch: mostly<string>(...EPOCHS),
    id: fc.nat({ max: 30 }),
    seconds: observationTimes,
    complete: mostly(true, false),
    covers: mostly<"all" | readonly string[]>("all", ["child-1", "child-2", "adopted", "found"]),
    children: fc.uniqueArray(
      fc.record({
        childId: fc.constantFrom("child-1", "child-2", "adopted", "found"),
        state: fc.constantFrom(...STATES),
        sequence: fc.option(fc.integer({ min: 0, max: 14 }), { nil: undefined }),
        activity: fc.option(fc.constantFrom("reading", "polling"), { nil: undefined }),
        attempt: fc.option(fc.constantFrom(0, 0, 0, 1), { nil: undefined }),
        known: fc.option(fc.constantFrom(...CAPABILITIES), { nil: undefined }),
      }),
      { selector: ({ childId }) => childId, maxLength: 3 },
    ),
  })
  .map(({ source, sourceEpoch, id, seconds, complete, covers, children }) => {
    const snapshot = makeSnapshot({
      source,
      sourceEpoch,
      snapshotId: `snapshot-${id}`,
      at: seconds,
      complete,
      coverage: covers,
      children: children.map(({ childId, state, sequence, activity, attempt, known }) => ({
        childId,
        state,
        ...(sequence === undefined ? undefined : { sequence }),
        ...(activity === undefined ? undefined : { activity }),
        ...(attempt === undefined
          ? undefined
          : { lineage: { rootChildId: childId, attempt, external: childId === "adopted" } }),
        ...(known === undefined ? undefined : { capabilities: { ...NOTHING_KNOWN, [known]: "known" as const } }),
      })),
    });
    return (at) => ({ type: "snapshot", snapshot, at });
  });

const NOTHING_KNOWN = {
  history: "unknown",
  heartbeat: "unknown",
  snapshot: "unknown",
  cancel: "unknown",
  terminalCause: "unknown",
} as const;

const otherSteps: fc.Arbitrary<Untimed> = fc.oneof(
  { arbitrary: fc.constant<Untimed>((at) => ({ type: "tick", at })), weight: 4 },
  { arbitrary: fc.constant<Untimed>((at) => ({ type: "resumed", at })), weight: 1 },
  {
    arbitrary: fc
      .record({
        source: mostly<string>(...SOURCES),
        childId: mostly("child-1", "child-2", "adopted", "found"),
        outcome: fc.constantFrom("failed" as const, "unavailable" as const),
      })
      .map(
        (verdict): Untimed =>
          (at) => ({ type: "reconciliation", ...verdict, at }),
      ),
    weight: 4,
  },
);

/** Ticks and verdicts that come close enough together to follow up on each other. */
function longSilence(outcome: ReconciliationInput["outcome"]): readonly Untimed[] {
  const verdict: Untimed = (at) => ({ type: "reconciliation", source: "runner", childId: "child-1", outcome, at });
  const tick: Untimed = (at) => ({ type: "tick", at: at + 60_000 });
  return [tick, verdict, tick, verdict];
}

const anySteps: fc.Arbitrary<readonly Untimed[]> = fc.array(
  fc.oneof(
    { arbitrary: eventSteps, weight: 10 },
    { arbitrary: snapshotSteps, weight: 2 },
    { arbitrary: otherSteps, weight: 3 },
  ),
  { maxLength: 40, size: "max" },
);

/** One child with more holes in its stream than a record can remember, some of them filled later. */
const sparseSteps: fc.Arbitrary<readonly Untimed[]> = fc
  .uniqueArray(
    fc.record({
      sequence: fc.integer({ min: 0, max: 260 }),
      kind: fc.constantFrom("heartbeat", "heartbeat", "activity", "state_changed" as const),
      state: fc.constantFrom<State>("starting", "running", "waiting"),
      late: fc.oneof({ arbitrary: fc.constant(0), weight: 5 }, { arbitrary: fc.nat({ max: 200 }), weight: 1 }),
    }),
    { selector: ({ sequence }) => sequence, minLength: 60, maxLength: 140, size: "max" },
  )
  .map((reports) =>
    reports
      .toSorted((first, second) => first.sequence + first.late - (second.sequence + second.late))
      .map(({ sequence, kind, state }): Untimed => {
        const event = makeEvent({ sequence, kind, at: sequence * 10, ...(kind === "state_changed" ? { state } : {}) });
        return (at) => ({ type: "event", event, backfill: false, at });
      }),
  );

/** Deliveries of streams, with snapshots, ticks and verdicts between them. */
const mixedSteps: fc.Arbitrary<readonly Untimed[]> = fc
  .record({
    events: delivered,
    backfill: mostly(false, true),
    others: fc.array(
      fc.record({
        step: fc.oneof({ arbitrary: snapshotSteps, weight: 1 }, { arbitrary: otherSteps, weight: 2 }),
        after: fc.nat({ max: 40 }),
      }),
      { maxLength: 10, size: "max" },
    ),
    silence: fc.record({
      after: fc.nat({ max: 60 }),
      outcome: fc.constantFrom("failed" as const, "unavailable" as const),
    }),
  })
  .map(({ events, backfill, others, silence }) => {
    const steps: readonly Untimed[] = events.map(
      (event): Untimed =>
        (at) => ({ type: "event", event, backfill, at }),
    );
    const disturbed = others.reduce((all, { step, after }) => all.toSpliced(after % (all.length + 1), 0, step), steps);
    return disturbed.toSpliced(silence.after % (disturbed.length + 1), 0, ...longSilence(silence.outcome));
  });

/** Histories of all kinds: streams that were delivered badly, with holes, and inputs that never fitted together. */
export function arbitraryHistory(): fc.Arbitrary<readonly HistoryStep[]> {
  const anyKind = fc.oneof(
    { arbitrary: mixedSteps, weight: 10 },
    { arbitrary: anySteps, weight: 10 },
    { arbitrary: sparseSteps, weight: 1 },
  );
  const pauses = fc.infiniteStream(
    fc.oneof({ arbitrary: fc.integer({ min: 0, max: 9 }), weight: 4 }, { arbitrary: fc.nat({ max: 70 }), weight: 1 }),
  );
  return fc.tuple(anyKind, pauses).map(([steps, seconds]) => {
    let at = START_MS;
    return steps.map((step) => {
      const timed = step(at + (seconds.next().value ?? 0) * 1000);
      at = timed.at;
      return timed;
    });
  });
}
