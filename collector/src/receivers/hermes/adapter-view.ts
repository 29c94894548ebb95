import { type AdapterView, formatTimestamp } from "@agent-lifecycle/proto";
import type { HermesStatus } from "./hermes-status.ts";

/** The state of the observing as displays read it. */
export function adapterView(status: HermesStatus): AdapterView {
  const { gateway, state, connectedSince, connections, lastEnd, lastFailure, features, capabilities } = status;
  return {
    address: gateway,
    connection: {
      state,
      since: optionalTime(connectedSince),
      count: connections,
      lastEnd: lastEnd === undefined ? null : { ...lastEnd, at: formatTimestamp(lastEnd.at) },
    },
    epoch: status.epoch ?? null,
    features: features === undefined ? null : { ...features },
    capabilities: capabilities ?? null,
    lastLookAt: optionalTime(status.lastLookAt),
    lastFailure: lastFailure === undefined ? null : { ...lastFailure, at: formatTimestamp(lastFailure.at) },
    runningChildren: status.runningChildren,
    attachedSessions: status.attachedSessions,
    eventsStored: status.eventsStored,
    eventsRefused: status.eventsRefused,
    snapshotsStored: status.snapshotsStored,
    problems: status.problems,
  };
}

function optionalTime(time: number | undefined): string | null {
  return time === undefined ? null : formatTimestamp(time);
}
