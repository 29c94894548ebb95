import { type Capabilities, capabilitiesFrom } from "./capabilities.ts";
import type { LifecycleEvent } from "./event.ts";

/**
 * Reads back what `canonicalEvent` wrote. Only for text that this program stored itself: nothing is validated.
 * @throws SyntaxError when the text is no JSON.
 */
export function parseCanonicalEvent(text: string): LifecycleEvent {
  const parsed = JSON.parse(text) as LifecycleEvent & { readonly capabilities?: Partial<Capabilities> };
  return { ...parsed, capabilities: capabilitiesFrom(parsed.capabilities) };
}
