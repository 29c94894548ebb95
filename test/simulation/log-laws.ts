import type { Store } from "@agent-lifecycle/collector/parts";
import { canonicalEvent, type LifecycleEvent } from "@agent-lifecycle/proto";
import type { Awareness } from "./awareness.ts";

/** What must hold of the log whatever happened: nothing was made up, and nothing was lost that was promised. */
export function checkLog(
  store: Store,
  awareness: Awareness,
  sent: ReadonlySet<LifecycleEvent>,
  acknowledged: ReadonlySet<LifecycleEvent>,
): readonly string[] {
  const violations: string[] = [];
  const wasSent = new Set([...sent].map(canonicalEvent));
  for (const { input, inputId } of store.inputs(0)) {
    if (input.type === "event" && !wasSent.has(canonicalEvent(input.event))) {
      violations.push(`nobody sent input ${inputId}`);
    }
  }
  for (const event of acknowledged) {
    if (!awareness.hasStored(event)) violations.push(`an event was acknowledged and never stored: ${event.eventId}`);
  }
  return violations;
}
