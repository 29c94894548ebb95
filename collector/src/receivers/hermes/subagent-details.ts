import { MAX_DETAIL_TEXT_LENGTH } from "@agent-lifecycle/proto";
import { redactAndCut } from "./display-text.ts";
import type { SubagentFacts } from "./subagent-frame.ts";

/** What a row says where the gateway names no routing profile for the child. */
const UNPROFILED = "UNPROFILED";

/** The longest part of a goal that leaves the gateway's machine. */
const MAX_NAME_LENGTH = 80;

export interface DetailPolicy {
  /**
   * Whether the beginning of the goal names the child. A goal is what somebody asked for: its first 80 characters, redacted,
   * are what a person needs to tell children apart; where even that is too much, they are told apart by their ids.
   */
  readonly namesGoals: boolean;
}

/** Facts beside the state, for events and for snapshot entries alike. */
export interface SubagentDetails extends Readonly<Record<string, unknown>> {
  readonly hermes: Readonly<Record<string, unknown>>;
}

/**
 * Names, models and numbers. Never what a child was told, thinks, writes or answers: not the goal in full, no thinking, no
 * previews of tools, no summary, no output. Files are counted and not named.
 */
export function subagentDetails(
  facts: SubagentFacts,
  policy: DetailPolicy,
  gatewaySessionId: string | undefined,
): SubagentDetails {
  const name = policy.namesGoals && facts.goal !== undefined ? redactAndCut(facts.goal, MAX_NAME_LENGTH) : "";
  const usage = present({
    inputTokens: facts.inputTokens,
    outputTokens: facts.outputTokens,
    costUsd: facts.costUsd,
    toolCalls: facts.toolCalls,
  });
  return {
    ...(name === "" ? undefined : { name }),
    agentType: "subagent",
    ...(facts.model === undefined ? undefined : { model: redactAndCut(facts.model, MAX_DETAIL_TEXT_LENGTH) }),
    ...(Object.keys(usage).length === 0 ? undefined : { usage }),
    routingProfile: redactAndCut(facts.routingProfile ?? UNPROFILED, MAX_DETAIL_TEXT_LENGTH),
    hermes: present({
      depth: facts.depth,
      delegationId: facts.delegationId,
      sessionId: gatewaySessionId,
      childSessionId: facts.childSessionId,
      taskIndex: facts.taskIndex,
      taskCount: facts.taskCount,
      status: facts.status,
      reasoningTokens: facts.reasoningTokens,
      modelCalls: facts.modelCalls,
      durationSeconds: facts.durationSeconds,
      filesRead: facts.filesRead,
      filesWritten: facts.filesWritten,
    }),
  };
}

function present(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
