import type { Capabilities } from "@agent-lifecycle/proto";
import type { Ask, GatewayFeatures } from "./gateway-features.ts";

/** One connection to a gateway that is ready, and what it turned out to do. */
export interface GatewaySession {
  readonly ask: Ask;
  readonly features: GatewayFeatures;
  /** Names the run of the gateway; of the connection, where the gateway does not say. */
  readonly epoch: string;
  /** Differs for every connection, of any collector. */
  readonly connectionId: string;
  readonly capabilities: Capabilities;
  readonly isAttaching: boolean;
}
