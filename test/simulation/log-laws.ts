import type { Store } from "@agent-lifecycle/collector/parts";
import type { FreshnessPolicy } from "@agent-lifecycle/collector/projection";
import { canonicalEvent, type LifecycleEvent } from "@agent-lifecycle/proto";

/** What the log itself must show, whatever happened: nothing made up, nothing twice, nothing lost that was promised. */
export function checkLog(
  store: Store,
  sent: ReadonlySet<LifecycleEvent>,
  acknowledged: ReadonlySet<LifecycleEvent>,
  _policy: FreshnessPolicy,
): readonly string[] {
  const violations: string[] = [];
  const wasSent = new Set([...sent].map(canonicalEvent));
  const stored = new Map<string, number>();
  let last = 0;
  for (const { input, inputId } of store.inputs(0)) {
    if (inputId !== last + 1) violations.push(`input ${inputId} follows ${last}`);
    last = inputId;
    if (input.type !== "event") continue;
    const content = canonicalEvent(input.event);
    if (!wasSent.has(content)) violations.push(`nobody sent input ${inputId}`);
    stored.set(content, (stored.get(content) ?? 0) + 1);
    if (!Number.isFinite(input.receivedAt)) violations.push(`input ${inputId} was received at no time`);
  }
  for (const [content, count] of stored) {
    if (count > 1) violations.push(`an event was stored ${count} times: ${content}`);
  }
  for (const event of acknowledged) {
    if (!stored.has(canonicalEvent(event)))
      violations.push(`an event was acknowledged and is not stored: ${event.eventId}`);
  }
  return violations;
}
