/**
 * What a collector that attaches to nothing may call: each of them reads what the gateway knows. None takes a stream,
 * builds or prompts a session, interrupts, approves or refuses anything.
 */
export const READING: ReadonlySet<string> = new Set([
  "delegation.status",
  "session.active_list",
  "session.events.since",
  "gateway.ping",
]);
