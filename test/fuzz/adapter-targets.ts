import { type LifecycleEvent, normalizeEvent } from "@agent-lifecycle/proto";
import {
  ADAPTERS,
  type Adapter,
  createServerSentEventReader,
  emptyAdapterState,
  parseAdapterState,
  serializeAdapterState,
} from "@agent-lifecycle/sdk/adapters";
import { ADAPTER_CORPORA, type AdapterCorpus } from "../kit/adapter-corpus.ts";
import { expectAdapterLaws } from "../kit/adapter-laws.ts";
import type { SeededRandom } from "../kit/seeded-random.ts";
import { mutatedBytes, mutatedValue } from "./mutations.ts";
import { expectThat, type FuzzTarget, MAX_PROBLEM_LENGTH, one, pureTarget } from "./target.ts";

const MOST_INPUTS = 12;
/** A message that is said of one input at most, in characters. */
const MAX_DIAGNOSTICS_LENGTH = 32 * MAX_PROBLEM_LENGTH;

/** A stream of one system with broken inputs among good ones: no throw, lawful events, bounded objections, a state that can be kept. */
function judgeAdapter(adapter: Adapter, { goingOn, ends }: AdapterCorpus, random: SeededRandom): void {
  let state = emptyAdapterState("watched", "run");
  const events: LifecycleEvent[] = [];
  for (let left = random.below(MOST_INPUTS); left >= 0; left -= 1) {
    const known = one(random, [...goingOn, ...ends]);
    const value = random.below(3) === 0 ? mutatedValue(random, known) : known;
    const result = adapter.map(state, { value, observedAtMs: 1_000 * left });
    const { length } = JSON.stringify(result.diagnostics);
    expectThat(length < MAX_DIAGNOSTICS_LENGTH, `${length} characters of diagnostics`);
    state = random.below(4) === 0 ? parseAdapterState(serializeAdapterState(result.state)) : result.state;
    events.push(...result.events);
  }
  events.push(...adapter.end(state, { observedAtMs: 0, ...(random.below(2) === 0 ? { exitCode: 1 } : {}) }).events);
  for (const event of events) expectThat(normalizeEvent(event).ok, `no event: ${JSON.stringify(event)}`);
  expectAdapterLaws(events);
}

const EVENTS = Buffer.from('data: {"type":"server.connected"}\r\n\r\nid: 1\ndata: {"a":\ndata: 1}\n\n: comment\n\n');

/** Wherever a stream is cut, the same is read from it. */
function judgeServerSentEvents(random: SeededRandom): void {
  const stream = mutatedBytes(random, EVENTS).toString("latin1");
  const whole = createServerSentEventReader();
  const pieces = createServerSentEventReader();
  const read: unknown[] = [];
  for (let at = 0; at < stream.length; ) {
    const next = at + 1 + random.below(12);
    read.push(...pieces.push(stream.slice(at, next)));
    at = next;
  }
  expectThat(JSON.stringify(whole.push(stream)) === JSON.stringify(read), "the pieces of a stream change what is read");
  expectThat(whole.broken === pieces.broken, "the pieces of a stream change what is broken");
}

export const ADAPTER_TARGETS: readonly FuzzTarget[] = [
  ...ADAPTER_CORPORA.map((corpus) => {
    const adapter = ADAPTERS.find(({ format }) => format === corpus.format);
    if (adapter === undefined) throw new Error(`no adapter for ${corpus.format}`);
    return pureTarget(corpus.format, 0.4, (random) => judgeAdapter(adapter, corpus, random));
  }),
  pureTarget("server-sent-events", 2, judgeServerSentEvents),
];
