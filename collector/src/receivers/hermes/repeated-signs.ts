import type { SubagentEventType, SubagentFrame } from "./subagent-frame.ts";

/** Frames that say of a child that it is at work, and no more. */
const SIGNS: ReadonlySet<SubagentEventType> = new Set(["subagent.thinking", "subagent.progress"]);

interface Numbered {
  readonly frame: SubagentFrame;
}

/**
 * Of signs that follow one another in a look, the last one says what the others say: a child that thinks aloud fills no
 * log. Whatever else a child reports stays, and so does the order.
 */
export function withoutRepeatedSigns<Item extends Numbered>(items: readonly Item[]): readonly Item[] {
  const nextOf = new Map<string, SubagentEventType>();
  return items
    .toReversed()
    .filter(({ frame: { type, facts } }) => {
      const isRepeated = SIGNS.has(type) && nextOf.get(facts.childId) === type;
      nextOf.set(facts.childId, type);
      return !isRepeated;
    })
    .toReversed();
}
