import { isTerminal, type LifecycleEvent, type State, successorsOf } from "@agent-lifecycle/proto";
import { makeEvent } from "../kit/events.ts";
import type { SeededRandom } from "../kit/seeded-random.ts";

/** What a child really did, and when. */
export interface TrueChild {
  readonly source: string;
  readonly childId: string;
  readonly reports: readonly TrueReport[];
  readonly sendsHeartbeats: boolean;
  /** The last state it was in. */
  readonly state: State;
}

export interface TrueReport {
  /** True time. Milliseconds since the beginning. */
  readonly at: number;
  readonly event: LifecycleEvent;
}

/** A child's whole life, made up at once: it does not depend on whether anybody hears of it. */
function trueChild(
  random: SeededRandom,
  source: string,
  childId: string,
  begunAt: number,
  statedEpochs?: readonly string[],
): TrueChild {
  const sendsHeartbeats = random.next() < 0.7;
  const restarts = random.next() < 0.2;
  const epochs = statedEpochs ?? (restarts ? ["epoch-1", "epoch-2"] : ["epoch-1"]);
  const reports: TrueReport[] = [];
  let state: State = "created";
  let at = begunAt;
  for (const [index, sourceEpoch] of epochs.entries()) {
    let sequence = random.below(2);
    const report = (members: object): void => {
      const event = makeEvent({
        source,
        childId,
        sourceEpoch,
        sequence,
        lineage: { rootChildId: childId },
        capabilities: sendsHeartbeats ? { heartbeat: "known" } : {},
        at,
        ...members,
      });
      reports.push({ at, event });
      sequence += 1;
    };
    report({ state });
    const steps = 1 + random.below(14);
    for (let step = 0; step < steps && !isTerminal(state); step += 1) {
      at += 200 + random.below(random.next() < 0.15 ? 60_000 : 8_000);
      const move = random.below(10);
      if (move < 4) {
        const isLastEpoch = index === epochs.length - 1;
        const choices: readonly State[] = successorsOf(state).filter(
          (next) => next !== "lost" && (isLastEpoch || !isTerminal(next)),
        );
        state = choices[random.below(choices.length)] ?? state;
        report({ state });
      } else if (move < 7) report({ kind: "activity", activity: `step ${step}` });
      else report({ kind: "heartbeat" });
    }
    at += 500;
  }
  return { source, childId, reports, sendsHeartbeats, state };
}

/** The same child, had everything that could report of it ended at a time after its beginning. */
function cutOff(child: TrueChild, at: number): TrueChild {
  const reports = child.reports.filter((report) => report.at < at);
  const state = reports.findLast(({ event }) => event.state !== undefined)?.event.state;
  return state === undefined ? child : { ...child, reports, state };
}

/** The child of that number in a world: its source alternates. Who has an authority speaks in one epoch at a time, as it does. */
export function childOf(
  random: SeededRandom,
  index: number,
  authority: { readonly source: string; readonly restartAt: number } | undefined,
): TrueChild {
  const source = `source-${index % 2}`;
  const begunAt = random.below(60_000);
  if (source !== authority?.source) return trueChild(random, source, `child-${index}`, begunAt);
  const isOfFirstRun = begunAt < authority.restartAt;
  const child = trueChild(random, source, `child-${index}`, begunAt, [isOfFirstRun ? "epoch-1" : "epoch-2"]);
  return isOfFirstRun ? cutOff(child, authority.restartAt) : child;
}
