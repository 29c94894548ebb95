import type { AskingOutcome, Authority } from "../runtime/authority.ts";
import { AUTHORITY_METRICS } from "../telemetry/pipeline-metrics.ts";
import type { Instruments } from "./instruments.ts";

export interface AuthorityMetrics {
  readonly countAsking: (authority: string, outcome: AskingOutcome, durationMs: number) => void;
  /** Brings up to date what is read off the authorities themselves. */
  readonly set: (authorities: readonly Authority[]) => void;
}

/** The metrics of authorities. The label is a component's id: there are as many as the configuration names. */
export function createAuthorityMetrics({ counter, gauge, histogram }: Instruments): AuthorityMetrics {
  const answers = counter(AUTHORITY_METRICS.answers);
  const duration = histogram(AUTHORITY_METRICS.answerSeconds);
  const failuresInARow = gauge(AUTHORITY_METRICS.failuresInARow);
  const lastAnswer = gauge(AUTHORITY_METRICS.lastAnswer);
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
