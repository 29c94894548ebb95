import type { Capabilities } from "@agent-lifecycle/proto";
import type { LinkEnd } from "./frame-link.ts";
import type { GatewayConnection } from "./gateway-connection.ts";
import type { GatewayFeatures } from "./gateway-features.ts";
import type { ObserverParts } from "./gateway-observer.ts";

export interface PastEnd extends LinkEnd {
  readonly at: number;
}

/** What is known of the observing itself, for displays. Without secrets. Times in milliseconds since the epoch. */
export interface HermesStatus {
  /** Where the gateway is: an address without credentials, or `stdio`. */
  readonly gateway: string;
  readonly state: "connecting" | "connected" | "disconnected" | "stopped";
  readonly connectedSince: number | undefined;
  /** Connections that worked, this one included. */
  readonly connections: number;
  readonly features: GatewayFeatures | undefined;
  readonly capabilities: Capabilities | undefined;
  readonly epoch: string | undefined;
  readonly attachedSessions: number;
  readonly runningChildren: number;
  readonly lastLookAt: number | undefined;
  /** Of the newest look that failed; the connection may be well. */
  readonly lastFailure: { readonly at: number; readonly text: string } | undefined;
  /** How the connection before this one ended, or why there is none. */
  readonly lastEnd: PastEnd | undefined;
  readonly eventsStored: number;
  readonly eventsRefused: number;
  readonly snapshotsStored: number;
  /** What the gateway sent and nobody could use, by code. */
  readonly problems: Readonly<Record<string, number>>;
}

export interface ReceiverState {
  readonly address: string;
  readonly connection: GatewayConnection | undefined;
  readonly connectedSince: number | undefined;
  readonly connections: number;
  readonly lastEnd: PastEnd | undefined;
  readonly lastFailure: HermesStatus["lastFailure"];
  readonly isStopped: boolean;
  readonly observer: ObserverParts;
}

export function statusOf(receiver: ReceiverState): HermesStatus {
  const { connection, connectedSince, observer } = receiver;
  return {
    gateway: receiver.address,
    state: stateOf(receiver),
    connectedSince,
    connections: receiver.connections,
    features: connection?.session?.features,
    capabilities: connection?.session?.capabilities,
    epoch: connection?.session?.epoch,
    attachedSessions: connection?.observer?.attachedSessions ?? 0,
    runningChildren: connection?.observer?.running ?? 0,
    lastLookAt: connection?.observer?.lastLookAt,
    lastFailure: receiver.lastFailure,
    lastEnd: receiver.lastEnd,
    eventsStored: observer.delivery.eventsStored,
    eventsRefused: observer.delivery.eventsRefused,
    snapshotsStored: observer.delivery.snapshotsStored,
    problems: observer.problems.counts,
  };
}

function stateOf({ isStopped, connectedSince, connection }: ReceiverState): HermesStatus["state"] {
  if (isStopped) return "stopped";
  if (connectedSince !== undefined) return "connected";
  return connection === undefined ? "disconnected" : "connecting";
}
