import { openSqliteStore, type Store, type StoredChild } from "@agent-lifecycle/collector/parts";
import {
  type ChildRecord,
  createProjection,
  fold,
  forgetChild,
  type Projection,
} from "@agent-lifecycle/collector/projection";
import { canonicalEvent, isTerminal, type LifecycleEvent } from "@agent-lifecycle/proto";
import { CHILDREN_PER_COHORT, type CohortOptions, cohortEvents, cohortMark } from "./cohort.ts";

export interface FillOptions {
  /** At least so many inputs. */
  readonly inputs: number;
  /** Children that are still running at the end; all others have ended. A number of whole cohorts. */
  readonly live: number;
}

const TEMPLATE_COHORT = 0;
const COHORTS_PER_COMMIT = 16;
/** Enough of a life to be running, with a heartbeat and an activity. */
const LIVE: CohortOptions = { eventsPerChild: 5 };

/**
 * Writes a database as a collector leaves it behind that has run for long and was stopped: by the store's own port and
 * the fold, without the way over the network, which would take many times as long.
 */
export function fillDatabase(path: string, { inputs, live }: FillOptions): void {
  if (live % CHILDREN_PER_COHORT !== 0) throw new RangeError(`${live} is not a number of whole cohorts`);
  const store = openSqliteStore({ path, synchronous: "normal" });
  try {
    const filler = new Filler(store);
    let cohort = 1;
    for (; cohort <= live / CHILDREN_PER_COHORT; cohort += 1) filler.add(cohort, LIVE);
    for (; filler.inputs < inputs; cohort += 1) filler.add(cohort, {});
    filler.commit();
  } finally {
    store.close();
  }
}

class Filler {
  readonly #store: Store;
  readonly #projection: Projection = createProjection();
  readonly #templates = new Map<CohortOptions["eventsPerChild"], readonly Template[]>();
  readonly #changed = new Map<number, StoredChild>();
  #inputId = 0;
  #waitingCohorts = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  get inputs(): number {
    return this.#inputId;
  }

  add(cohort: number, options: CohortOptions): void {
    if (this.#waitingCohorts === 0) this.#store.begin();
    const mark = cohortMark(cohort);
    for (const template of this.#templatesFor(options)) this.#append(template, mark);
    this.#waitingCohorts += 1;
    if (this.#waitingCohorts === COHORTS_PER_COMMIT) this.commit();
  }

  commit(): void {
    if (this.#waitingCohorts === 0) return;
    this.#store.checkpoint({
      inputId: this.#inputId,
      records: this.#changed.values(),
      snapshotEpochs: new Map(),
      resumption: undefined,
      nextKey: this.#projection.nextKey,
    });
    this.#store.commit();
    for (const { record } of this.#changed.values()) if (hasEnded(record)) forgetChild(this.#projection, record);
    this.#changed.clear();
    this.#waitingCohorts = 0;
  }

  #append({ event, line }: Template, mark: string): void {
    const input = {
      type: "event",
      event: ofCohort(event, mark),
      receivedAt: Date.parse(event.observedAt) + 5,
      backfill: false,
      identity: "new",
    } as const;
    const { status, changes } = fold(this.#projection, input);
    const record = changes[0]?.after;
    if (status !== "applied" || record === undefined)
      throw new Error(`an event of the load was not applied but ${status}`);
    const canonicalContent = line.replaceAll(TEMPLATE_MARK, mark);
    this.#inputId = this.#store.append({
      input,
      childKey: record.key,
      status,
      diagnostic: undefined,
      canonicalContent,
    });
    this.#changed.set(record.key, { record, updatedInputId: this.#inputId });
  }

  #templatesFor(options: CohortOptions): readonly Template[] {
    const { eventsPerChild } = options;
    const known = this.#templates.get(eventsPerChild);
    if (known !== undefined) return known;
    const templates = cohortEvents(TEMPLATE_COHORT, options).map((event) => ({ event, line: canonicalEvent(event) }));
    this.#templates.set(eventsPerChild, templates);
    return templates;
  }
}

/** An event of the first cohort, and its text. */
interface Template {
  readonly event: LifecycleEvent;
  readonly line: string;
}

const TEMPLATE_MARK = cohortMark(TEMPLATE_COHORT);

function ofCohort(event: LifecycleEvent, mark: string): LifecycleEvent {
  const { lineage } = event;
  const { parentChildId } = lineage;
  return {
    ...event,
    eventId: event.eventId.replace(TEMPLATE_MARK, mark),
    childId: event.childId.replace(TEMPLATE_MARK, mark),
    lineage: {
      ...lineage,
      rootChildId: lineage.rootChildId.replace(TEMPLATE_MARK, mark),
      ...(parentChildId === undefined ? undefined : { parentChildId: parentChildId.replace(TEMPLATE_MARK, mark) }),
    },
  };
}

function hasEnded({ state }: ChildRecord): boolean {
  return isTerminal(state);
}
