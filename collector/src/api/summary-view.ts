import { formatTimestamp, type SummaryView } from "@agent-lifecycle/proto";
import type { Authority } from "../runtime/authority.ts";
import type { Clock } from "../runtime/clock.ts";
import type { ProjectionReader } from "../runtime/projection-reader.ts";

/**
 * Makes the summary as displays read it. Whether evidence was ever seen is looked up until it was; an authority that has
 * answered is some, also where it has no children.
 */
export function createSummaryView(
  reader: ProjectionReader,
  clock: Clock,
  authorities: () => readonly Authority[] = () => [],
): () => SummaryView {
  let evidenceSeen = false;
  return () => {
    const { started, live, byState, stale, provisional, stateUnknown } = reader.summary();
    evidenceSeen ||= started > 0 || stateUnknown > 0 || reader.sources().length > 0;
    evidenceSeen ||= authorities().some(({ status }) => status.answers > 0);
    return {
      started,
      live,
      byState: { ...byState },
      stale,
      provisional,
      stateUnknown,
      evidenceSeen,
      position: reader.lastInputId(),
      at: formatTimestamp(Math.floor(clock.wallNow())),
    };
  };
}
