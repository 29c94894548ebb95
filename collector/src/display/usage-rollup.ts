import type { ChildView, Usage } from "@agent-lifecycle/proto";

/** What several children used, as far as their sources said. `null`: nobody reported it, which is not zero. */
export interface UsageRollup {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly costUsd: number | null;
  readonly toolCalls: number | null;
  /** Children that reported any usage, out of `members`. */
  readonly reported: number;
  readonly members: number;
}

export const NO_USAGE: UsageRollup = {
  inputTokens: null,
  outputTokens: null,
  costUsd: null,
  toolCalls: null,
  reported: 0,
  members: 0,
};

/** The usage of one child, as a sum of one. */
export function usageOf({ facts }: ChildView): UsageRollup {
  const usage: Usage | undefined = facts.usage;
  if (usage === undefined) return { ...NO_USAGE, members: 1 };
  return {
    inputTokens: usage.inputTokens ?? null,
    outputTokens: usage.outputTokens ?? null,
    costUsd: usage.costUsd ?? null,
    toolCalls: usage.toolCalls ?? null,
    reported: 1,
    members: 1,
  };
}

export function addUsage(first: UsageRollup, second: UsageRollup): UsageRollup {
  return {
    inputTokens: add(first.inputTokens, second.inputTokens),
    outputTokens: add(first.outputTokens, second.outputTokens),
    costUsd: add(first.costUsd, second.costUsd),
    toolCalls: add(first.toolCalls, second.toolCalls),
    reported: first.reported + second.reported,
    members: first.members + second.members,
  };
}

function add(first: number | null, second: number | null): number | null {
  if (first === null) return second;
  return second === null ? first : first + second;
}
