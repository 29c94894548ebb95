import { createProjection, fold, type Projection } from "@agent-lifecycle/collector/projection";
import { decodeLogsProtobuf, normalizeEvent } from "@agent-lifecycle/proto";
import { CHILDREN_PER_COHORT } from "./cohort.ts";
import { CohortRequests } from "./requests.ts";

/** Enough of each life to be running, with a heartbeat and, if the children are talkative, an activity. */
const EVENTS_PER_CHILD = 5;

/**
 * A projection of so many live children. Their events come the whole way in, as bytes first: the texts in the records
 * are those that a collector would hold, shared where it would share them and nowhere else.
 */
export function projectionOfLiveChildren(children: number, talkative: boolean): Projection {
  if (children % CHILDREN_PER_COHORT !== 0) throw new RangeError(`${children} is not a number of whole cohorts`);
  const projection = createProjection();
  const eventsPerRequest = CHILDREN_PER_COHORT * EVENTS_PER_CHILD;
  const requests = new CohortRequests("protobuf", eventsPerRequest, { eventsPerChild: EVENTS_PER_CHILD, talkative });
  for (let cohort = 0; cohort < children / CHILDREN_PER_COHORT; cohort += 1) {
    foldRequest(projection, requests.body(cohort, 0));
  }
  return projection;
}

function foldRequest(projection: Projection, body: Buffer): void {
  const decoded = decodeLogsProtobuf(body);
  if (!decoded.ok) throw new Error(decoded.problem);
  for (const record of decoded.records) {
    const normalized = normalizeEvent(record.foreign ? undefined : record.candidate);
    if (!normalized.ok) throw new Error(JSON.stringify(normalized.diagnostic));
    const { event } = normalized;
    const receivedAt = Date.parse(event.observedAt);
    const { status } = fold(projection, { type: "event", event, receivedAt, backfill: false, identity: "new" });
    if (status !== "applied") throw new Error(`an event of the load was not applied but ${status}`);
  }
}
