import type { TerminalState } from "@agent-lifecycle/proto";

/** What the status word of a `subagent.complete` means. */
export type Completion =
  | { readonly ends: true; readonly state: TerminalState; readonly cause?: string; readonly isKnownWord: boolean }
  /** A word for a child that still lives: no end, whatever frame carries it. */
  | { readonly ends: false };

/**
 * `completed` is the gateway's word even where a provider refused the child's call: builds before September 2026 report
 * many such failures so, and nothing in the frame tells them apart. A word that nobody has defined yet ends the child all
 * the same, since the frame says that it is over: as failed, with the word kept as the cause.
 */
export function readCompletion(status: string | undefined): Completion {
  switch (status) {
    case "completed":
      return { ends: true, state: "completed", isKnownWord: true };
    case "failed":
      return { ends: true, state: "failed", isKnownWord: true };
    case "error":
    case "timeout":
    case "stalled":
    case "budget_exhausted":
      return { ends: true, state: "failed", cause: status, isKnownWord: true };
    case "interrupted":
    case "cancelled":
      return { ends: true, state: "cancelled", cause: status, isKnownWord: true };
    case "queued":
    case "running":
      return { ends: false };
    case undefined:
      return { ends: true, state: "failed", cause: "unspecified", isKnownWord: false };
    default:
      return { ends: true, state: "failed", cause: status, isKnownWord: false };
  }
}
