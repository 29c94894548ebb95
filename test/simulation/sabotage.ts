import type { Clock } from "@agent-lifecycle/collector";
import type { AppendedInput, Store } from "@agent-lifecycle/collector/parts";
import type { FreshnessPolicy, SnapshotPolicy } from "@agent-lifecycle/collector/projection";

/** A collector that breaks a law on purpose, through what it is given and by no change of its own. Default: an honest one. */
export interface Sabotage {
  /** What a process takes for its disk. */
  readonly store?: (disk: Store) => Store;
  readonly policy?: (policy: FreshnessPolicy & SnapshotPolicy) => FreshnessPolicy & SnapshotPolicy;
  readonly clock?: (clock: Clock) => Clock;
  /** Tells senders that everything was stored, whatever became of it. */
  readonly answersTooSoon?: boolean;
}

export interface NamedSabotage extends Sabotage {
  readonly name: string;
  /** What the simulation says of it. */
  readonly violation: RegExp;
}

function madeUp(appended: AppendedInput, input: AppendedInput["input"] & { readonly type: "event" }): AppendedInput {
  const { canonicalContent: _, ...rest } = appended;
  return { ...rest, input: { ...input, event: { ...input.event, activity: "made up" } } };
}

/** Every tenth call of a method, counted over all processes of one world, is made into something else. */
function everyTenth<Name extends "append" | "commit" | "checkpoint" | "appendAudit">(
  name: Name,
  instead: (disk: Store, ...operands: Parameters<Store[Name]>) => ReturnType<Store[Name]>,
): (disk: Store) => Store {
  let calls = 0;
  return (disk) =>
    withMethod(disk, name, (...operands: readonly unknown[]) => {
      calls += 1;
      if (calls % 10 !== 0)
        return (disk[name] as (...operands: readonly unknown[]) => unknown).apply(disk, [...operands]);
      return instead(disk, ...(operands as Parameters<Store[Name]>));
    });
}

function withMethod(disk: Store, name: keyof Store, method: (...operands: readonly unknown[]) => unknown): Store {
  return new Proxy(disk, {
    get: (target, member) => {
      if (member === name) return method;
      const held: unknown = Reflect.get(target, member, target);
      return typeof held === "function" ? (held.bind(target) as unknown) : held;
    },
  });
}

/** Made anew for each world: some of them count. */
export const SABOTAGES: readonly (() => NamedSabotage)[] = [
  () => ({
    name: "a disk that says it has committed, and has not",
    violation: /acknowledged and never stored|the replay differs|is not known/,
    store: everyTenth("commit", (disk) => disk.rollback()),
  }),
  () => ({
    name: "a log that keeps an input under another's content",
    violation: /acknowledged and never stored|the replay differs/,
    store: everyTenth("append", (disk, appended) =>
      disk.append(appended.input.type === "event" ? madeUp(appended, appended.input) : appended),
    ),
  }),
  () => ({
    name: "a log that forgets who became stale",
    violation: /lost without having been stale|the replay differs|is not stale after/,
    store: (disk) =>
      withMethod(disk, "append", (...operands) => {
        const [appended] = operands as Parameters<Store["append"]>;
        const { input } = appended;
        return disk.append(
          input.type === "stale" ? { ...appended, input: { type: "resumed", at: input.at } } : appended,
        );
      }),
  }),
  () => ({
    name: "a memory of identities that knows none",
    violation: /stored twice/,
    store: (disk) => withMethod(disk, "answerIdentity", () => "new"),
  }),
  () => ({
    name: "a checkpoint that leaves out what changed",
    violation: /the replay differs|is not known|it really was|has gaps/,
    store: everyTenth("checkpoint", (disk, checkpoint) => disk.checkpoint({ ...checkpoint, records: [] })),
  }),
  () => ({
    name: "a watch that calls a child stale too early",
    violation: /became stale after/,
    policy: (policy) => ({ ...policy, staleAfterMs: policy.staleAfterMs / 2 }),
  }),
  () => ({
    name: "a judge that gives a child no time to answer",
    violation: /was lost .* after it could answer/,
    policy: (policy) => ({ ...policy, reconcileDeadlineMs: 1 }),
  }),
  () => ({
    name: "a watch that calls nobody stale for a long time",
    violation: /is not stale after/,
    policy: (policy) => ({ ...policy, staleAfterMs: policy.staleAfterMs * 2 }),
  }),
  () => ({
    name: "a collector that takes every moment for a wake",
    violation: /is not stale after/,
    clock: (clock) => ({ wallNow: () => clock.wallNow(), monotonicNow: () => -clock.wallNow() * 4 }),
  }),
  () => ({
    name: "a door that acknowledges before anything is durable",
    violation: /acknowledged and never stored|is not known|it really was|has gaps/,
    answersTooSoon: true,
  }),
];
