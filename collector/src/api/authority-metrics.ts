import { Counter, Gauge, Histogram } from "prom-client";
import type { AskingOutcome, Authority } from "../runtime/authority.ts";
import type { MetricRegisters } from "./metric-registers.ts";

const ANSWER_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface AuthorityMetrics {
  readonly countAsking: (authority: string, outcome: AskingOutcome, durationMs: number) => void;
  /** Brings up to date what is read off the authorities themselves. */
  readonly set: (authorities: readonly Authority[]) => void;
}

/** The metrics of authorities. The label is a component's id: there are as many as the configuration names. */
export function createAuthorityMetrics(registers: MetricRegisters): AuthorityMetrics {
  const answers = new Counter({
    name: "agent_lifecycle_authority_answers_total",
    help: "Questions to authorities, and snapshots they pushed, by how they ended.",
    labelNames: ["authority", "outcome"],
    registers,
  });
  const duration = new Histogram({
    name: "agent_lifecycle_authority_answer_duration_seconds",
    help: "Time from a question until its answer was durable, or it came to nothing.",
    labelNames: ["authority"],
    buckets: ANSWER_SECONDS,
    registers,
  });
  const failuresInARow = new Gauge({
    name: "agent_lifecycle_authority_failures_in_a_row",
    help: "Questions that came to nothing since the last answer.",
    labelNames: ["authority"],
    registers,
  });
  const lastAnswer = new Gauge({
    name: "agent_lifecycle_authority_last_answer_timestamp_seconds",
    help: "When the last answer was stored, in seconds since the epoch; not there before the first one.",
    labelNames: ["authority"],
    registers,
  });
  return {
    countAsking: (authority, outcome, durationMs) => {
      answers.inc({ authority, outcome });
      duration.observe({ authority }, durationMs / 1000);
    },
    set: (authorities) => {
      for (const { id, status } of authorities) {
        failuresInARow.set({ authority: id }, status.failuresInARow);
        if (status.lastAnsweredAt !== undefined) lastAnswer.set({ authority: id }, status.lastAnsweredAt / 1000);
      }
    },
  };
}
