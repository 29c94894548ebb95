import type { LifecycleEvent } from "@agent-lifecycle/proto";

/** An event and its record without text and details: objects, and texts that are its own. */
const BASE_BYTES = 700;
const MEMBER_BYTES = 40;

/** About how much memory an event holds while it waits, bytes. A bound needs no better figure. */
export function approximateBytes(event: LifecycleEvent): number {
  const { activity, details } = event;
  let bytes = BASE_BYTES + 2 * event.eventId.length;
  if (activity !== undefined) bytes += 2 * activity.length;
  return details === undefined ? bytes : bytes + bytesOf(details);
}

function bytesOf(value: unknown): number {
  if (typeof value === "string") return MEMBER_BYTES + 2 * value.length;
  if (typeof value !== "object" || value === null) return MEMBER_BYTES;
  let bytes = MEMBER_BYTES;
  for (const [name, member] of Object.entries(value)) bytes += 2 * name.length + bytesOf(member);
  return bytes;
}
