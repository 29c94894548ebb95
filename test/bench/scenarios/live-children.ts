import { childrenOf, DEFAULT_FRESHNESS, Liveness, type Projection } from "@agent-lifecycle/collector/projection";
import { CHILDREN_PER_COHORT, childIdOf } from "../load/cohort.ts";
import { projectionOfLiveChildren } from "../load/live-children.ts";
import type { Figure } from "../measure/figure.ts";
import { collectGarbage, keep, kept, ratesInTurns } from "../measure/rounds.ts";
import type { ScenarioContext } from "../scenario.ts";

/** What very many live children cost: memory for each, and time for a look at which of them have fallen silent. */
export async function measureLiveChildren({ quick }: ScenarioContext): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const children of quick ? [100_000] : [100_000, 1_000_000]) {
    figures.push(memoryFigure(children, "state and heartbeat only", holdChildren(children, false).bytes));
    const { bytes, projection } = holdChildren(children, true);
    figures.push(memoryFigure(children, "activity and details too", bytes));
    const before = heapBytes();
    const liveness = watching(projection);
    figures.push(memoryFigure(children, "the watch beside them", heapBytes() - before));
    figures.push(await measureTick(projection, liveness, quick));
  }
  return figures;
}

function memoryFigure(children: number, what: string, bytes: number): Figure {
  const isMillion = children === 1_000_000;
  return {
    what: `memory of ${children.toLocaleString("en-US")} live children, ${what}`,
    unit: "bytes each",
    samples: [bytes / children],
    ...(isMillion ? { budget: "≤ 600 in all, ids not counted" } : undefined),
  };
}

/** @returns with the projection the heap it takes, without what the ids alone would take. */
function holdChildren(
  children: number,
  talkative: boolean,
): { readonly projection: Projection; readonly bytes: number } {
  const idBytes = bytesOfIds(children);
  const before = heapBytes();
  const projection = projectionOfLiveChildren(children, talkative);
  return { projection, bytes: heapBytes() - before - idBytes };
}

/** A look for silence that finds none, against reading the time of every child. */
async function measureTick(projection: Projection, liveness: Liveness, quick: boolean): Promise<Figure> {
  const looks = 200_000;
  const silentFor = DEFAULT_FRESHNESS.staleAfterMs - 1;
  const records = [...childrenOf(projection)];
  const earliest = Math.min(...records.slice(0, 1_000).map(({ silentSince }) => silentSince));
  const now = earliest + silentFor;
  const rates = await ratesInTurns(
    {
      tick: () => {
        for (let look = 0; look < looks; look += 1) {
          if (liveness.expire(now).length + liveness.dueReconciliations(now).length > 0)
            throw new Error("a child expired");
        }
        return looks;
      },
      scan: () => {
        let silent = 0;
        for (const { silentSince } of records) if (now - silentSince >= DEFAULT_FRESHNESS.staleAfterMs) silent += 1;
        keep(silent);
        return 1;
      },
    },
    { rounds: quick ? 3 : 7 },
  );
  const microseconds = (perSecond: readonly number[]): readonly number[] => perSecond.map((rate) => 1e6 / rate);
  return {
    what: `look for silence among ${records.length.toLocaleString("en-US")}`,
    unit: "µs",
    samples: microseconds(rates.tick),
    ...(records.length === 1_000_000 ? { budget: "≤ 50 µs" } : undefined),
    baseline: { name: "a scan of all records", samples: microseconds(rates.scan) },
  };
}

/** Watches all children, in the order in which evidence arrives: that of time. */
function watching(projection: Projection): Liveness {
  const liveness = new Liveness(() => DEFAULT_FRESHNESS);
  const records = [...childrenOf(projection)].sort((first, second) => first.silentSince - second.silentSince);
  for (const after of records) liveness.observe({ before: undefined, after });
  return liveness;
}

/** The ids alone, held in an array. */
function bytesOfIds(children: number): number {
  const before = heapBytes();
  // By way of bytes: a text that was just put together takes more room than one that came in.
  keep(
    Array.from({ length: children }, (_, child) =>
      Buffer.from(childIdOf(Math.floor(child / CHILDREN_PER_COHORT), child % CHILDREN_PER_COHORT)).toString("latin1"),
    ),
  );
  const bytes = heapBytes() - before;
  if (!Array.isArray(kept())) throw new Error("the ids were not kept");
  keep(undefined);
  return bytes;
}

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
