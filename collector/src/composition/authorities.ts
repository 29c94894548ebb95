import type { SupportLevel } from "@agent-lifecycle/proto";
import { type AskingPolicy, DEFAULT_ASKING_POLICY } from "../core/index.ts";
import { AskedAuthority } from "../runtime/asked-authority.ts";
import type { AskingOutcome } from "../runtime/authority.ts";
import type { Clock } from "../runtime/clock.ts";
import type { SnapshotSource } from "../runtime/snapshot-source.ts";
import type { Pipeline } from "./pipeline.ts";

/** Something that can be asked for snapshots: a configured component, or a receiver that knows all children it reports. */
export interface AskedSource {
  /** The component's id, such as `http/orchestrator`. What it hands over comes in under this id. */
  readonly id: string;
  /** The component's type. */
  readonly kind: string;
  readonly supportLevel: SupportLevel;
  readonly snapshotSource: SnapshotSource;
  /** Default: `DEFAULT_ASKING_POLICY`. */
  readonly policy?: AskingPolicy;
  /** Milliseconds. */
  readonly timeoutMs?: number;
}

export interface AuthorityParts {
  readonly pipeline: Pick<Pipeline, "authorities" | "door">;
  readonly clock: Clock;
  readonly onOutcome: (id: string, outcome: AskingOutcome, durationMs: number) => void;
}

/** An answer that takes longer is no answer: two fit into the time that a question waits, with a wait between them. */
const DEFAULT_ANSWER_TIMEOUT_MS = 5_000;

/**
 * Makes something that can be asked the authority of its source. A receiver that reconnects says so by
 * `pipeline.authorities.want(source, "reconnect")`.
 * @throws AuthorityConflictError when the source has an authority already.
 */
export function addAskedSource(source: AskedSource, { pipeline, clock, onOutcome }: AuthorityParts): void {
  const { policy = DEFAULT_ASKING_POLICY, timeoutMs = DEFAULT_ANSWER_TIMEOUT_MS } = source;
  pipeline.authorities.add(
    new AskedAuthority({
      ...source,
      policy,
      timeoutMs,
      intake: pipeline.door,
      clock,
      onOutcome: (outcome, durationMs) => onOutcome(source.id, outcome, durationMs),
    }),
  );
}
