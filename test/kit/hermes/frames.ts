export type Members = Readonly<Record<string, unknown>>;

/** A payload as the gateway writes it: what every frame of a child carries, and what else is given. */
export function payloadOf(subagentId: string, more: Members = {}): Members {
  return {
    goal: `the goal of ${subagentId}`,
    task_count: 1,
    task_index: 0,
    subagent_id: subagentId,
    depth: 0,
    model: "fake-model",
    tool_count: 0,
    ...more,
  };
}

/** A row of `delegation.status`. */
export function rowOf(subagentId: string, more: Members = {}): Members {
  return {
    subagent_id: subagentId,
    parent_id: null,
    depth: 0,
    goal: `the goal of ${subagentId}`,
    model: "fake-model",
    started_at: 1_788_253_200.5,
    status: "running",
    tool_count: 0,
    ...more,
  };
}
