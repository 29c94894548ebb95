import type { JSX } from "preact";
import { hasEnded } from "../../src/display/child-key.ts";
import { durationWords } from "../../src/display/child-words.ts";
import type { Row } from "../model/board-model.ts";
import { useBoard, useLoaded, useLook, useModel } from "../model/use-board.ts";
import { ageWords } from "../parts/time-words.ts";
import { AuthorityFacts } from "./authority-facts.tsx";
import { DeclaredVisibility } from "./declared-visibility.tsx";

interface SourceSum {
  live: number;
  stale: number;
  misses: number;
  asked: number;
  /** The newest evidence of any of its children, on the collector's clock. */
  newest: { evidenceAt: string; observedAt: string } | undefined;
  readonly epochs: Set<string>;
}

const LOOK_EVERY_MS = 5_000;
const REST_MS = 2_000;

/** Who reports, in which run of theirs, how fresh that is, and who can be asked. */
export function SourcesView(): JSX.Element {
  const model = useModel();
  const {
    model: { client },
  } = useBoard();
  const { go } = useLook();
  // A connection that breaks and an authority that fails are no change of any child: the stream does not tell of them.
  const period = Math.floor(model.now / LOOK_EVERY_MS);
  const loaded = useLoaded("sources", `${model.summary?.position}:${period}`, () => client.sources(), REST_MS);
  const sums = sumBySource(model.rows);
  const sources = loaded.kind === "loading" ? [] : (loaded.value?.sources ?? []);
  return (
    <section class="view scrolls" aria-label="Sources">
      {loaded.kind === "failed" && <p class="nothing">The sources cannot be read: {loaded.reason}</p>}
      {loaded.kind === "loaded" && sources.length === 0 && <p class="nothing">No source has reported yet.</p>}
      <div class="panels">
        {sources.map((source) => {
          const sum = sums.get(source.source);
          return (
            <section class="panel" key={source.source}>
              <h3>
                <button type="button" class="plain" onClick={() => go({ view: "now", source: source.source })}>
                  {source.source}
                </button>
              </h3>
              <dl>
                <Fact name="children" value={`${source.children}, ${sum?.live ?? 0} live, ${sum?.stale ?? 0} stale`} />
                <Fact
                  name="heard of"
                  value={
                    sum?.newest === undefined ? "not listed here" : `${ageWords(sum.newest.evidenceAt, model.now)} ago`
                  }
                />
                <Fact name="epochs" value={sum === undefined ? "not listed here" : epochWords(sum.epochs)} />
                <Fact
                  name="snapshot misses"
                  value={sum === undefined || sum.misses === 0 ? "none" : `${sum.misses} among live children`}
                />
                <Fact
                  name="answers awaited"
                  value={
                    sum === undefined || sum.asked === 0
                      ? "none"
                      : `for ${sum.asked} ${sum.asked === 1 ? "child" : "children"}`
                  }
                />
                <Fact name="its clock" value={skewWords(sum)} />
                <AuthorityFacts source={source} now={model.now} />
              </dl>
              {source.visibility !== undefined && <DeclaredVisibility visibility={source.visibility} />}
            </section>
          );
        })}
      </div>
    </section>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }): JSX.Element {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function sumBySource(rows: readonly Row[]): ReadonlyMap<string, SourceSum> {
  const sums = new Map<string, SourceSum>();
  for (const { child } of rows) {
    let sum = sums.get(child.source);
    if (sum === undefined) {
      sum = { live: 0, stale: 0, misses: 0, asked: 0, newest: undefined, epochs: new Set() };
      sums.set(child.source, sum);
    }
    if (sum.newest === undefined || child.lastEvidenceAt > sum.newest.evidenceAt) {
      sum.newest = { evidenceAt: child.lastEvidenceAt, observedAt: child.lastObservedAt };
    }
    if (hasEnded(child)) continue;
    sum.live += 1;
    sum.epochs.add(child.sourceEpoch);
    if (child.stale !== null) sum.stale += 1;
    if (child.misses > 0) sum.misses += 1;
    if (child.reconciliation !== null) sum.asked += 1;
  }
  return sums;
}

function epochWords(epochs: ReadonlySet<string>): string {
  const [first] = epochs;
  if (first === undefined) return "no live child";
  return epochs.size === 1 ? first : `${epochs.size} among live children`;
}

/** Below this, clocks agree as far as anybody can tell: the way of a report takes time. */
const AGREEMENT_MS = 2_000;

function skewWords(sum: SourceSum | undefined): string {
  if (sum?.newest === undefined) return "not known";
  const behindMs = Date.parse(sum.newest.evidenceAt) - Date.parse(sum.newest.observedAt);
  if (Math.abs(behindMs) < AGREEMENT_MS) return "agrees with the collector's";
  const words = durationWords(Math.abs(behindMs));
  return behindMs > 0
    ? `${words} behind at its newest report, or the report took that long`
    : `${words} ahead at its newest report`;
}
