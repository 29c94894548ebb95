import { childrenOf, DEFAULT_FRESHNESS, Liveness, type Projection } from "@agent-lifecycle/collector/projection";
import { CHILDREN_PER_COHORT, childIdOf } from "../load/cohort.ts";
import { projectionOfLiveChildren } from "../load/live-children.ts";
import type { Figure } from "../measure/figure.ts";
import { collectGarbage, keep, kept, ratesInTurns } from "../measure/rounds.ts";
import type { ScenarioContext } from "../scenario.ts";

/** What very many live children cost: memory for each, and time for a look at which of them have fallen silent. */
export async function measureLiveChildren({ quick }: ScenarioContext): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const children of quick ? [100_000] : [100_000, 1_000_000]) figures.push(...(await measure(children, quick)));
  return figures;
}

async function measure(children: number, quick: boolean): Promise<readonly Figure[]> {
  const idBytes = bytesOfIds(children);
  const before = heapBytes();
  const projection = projectionOfLiveChildren(children);
  const projectionBytes = heapBytes() - before - idBytes;
  const liveness = watching(projection);
  const watchedBytes = heapBytes() - before - idBytes;
  const count = children.toLocaleString("en-US");
  const budget = children === 1_000_000;
  const bytes = (what: string, total: number): Figure => ({
    what: `memory for each of ${count} live children beyond its id, ${what}`,
    unit: "bytes",
    samples: [total / children],
    ...(budget ? { budget: "≤ 600 bytes" } : undefined),
  });
  return [
    bytes("projection", projectionBytes),
    bytes("projection and watch for silence", watchedBytes),
    { ...(await measureTick(projection, liveness, quick)), ...(budget ? { budget: "≤ 50 µs" } : undefined) },
  ];
}

/** A look for silence that finds none, against reading the time of every child. */
async function measureTick(projection: Projection, liveness: Liveness, quick: boolean): Promise<Figure> {
  const looks = 10_000;
  const silentFor = DEFAULT_FRESHNESS.staleAfterMs - 1;
  const records = [...childrenOf(projection)];
  const earliest = Math.min(...records.slice(0, 1_000).map(({ silentSince }) => silentSince));
  const now = earliest + silentFor;
  const rates = await ratesInTurns(
    {
      tick: () => {
        for (let look = 0; look < looks; look += 1) {
          if (liveness.expire(now).length + liveness.dueReconciliations(now).length > 0) throw new Error("a child expired");
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
    { rounds: quick ? 5 : 9 },
  );
  const microseconds = (perSecond: readonly number[]): readonly number[] => perSecond.map((rate) => 1e6 / rate);
  return {
    what: `look for silence, ${records.length.toLocaleString("en-US")} live children, none expiring`,
    unit: "µs",
    samples: microseconds(rates.tick),
    baseline: { name: "a scan of all records", samples: microseconds(rates.scan) },
  };
}

function watching(projection: Projection): Liveness {
  const liveness = new Liveness(() => DEFAULT_FRESHNESS);
  for (const after of childrenOf(projection)) liveness.observe({ before: undefined, after });
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
