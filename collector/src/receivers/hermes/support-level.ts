import type { SupportLevel } from "@agent-lifecycle/proto";

/**
 * An adapter to the gateway of Hermes Agent, and no part of Hermes Desktop: it sees the children of the gateway process
 * that it is connected to, and of no other.
 */
export const HERMES_SUPPORT_LEVEL: SupportLevel = "experimental";
