/**
 * How far an adapter may be relied on. `adapter foundation`: the protocol is spoken, interop is not proven. `experimental`:
 * proven against the real thing, behaviour may still change. `supported`: changes are announced.
 */
export const SUPPORT_LEVELS = ["adapter foundation", "experimental", "supported"] as const;

export type SupportLevel = (typeof SUPPORT_LEVELS)[number];

/**
 * An adapter to the gateway of Hermes Agent, and no part of Hermes Desktop: it sees the children of the gateway process
 * that it is connected to, and of no other.
 */
export const HERMES_SUPPORT_LEVEL: SupportLevel = "experimental";
