import type { SupportLevel } from "@agent-lifecycle/proto";
import { type ConfiguredSnapshotSource, snapshotSourcesInUse } from "../config/components.ts";
import type { CollectorConfiguration } from "../config/configuration.ts";
import type { AskedSourceConfiguration } from "../config/snapshot-source-configuration.ts";
import { type AskingPolicy, DEFAULT_ASKING_POLICY } from "../core/index.ts";
import { SNAPSHOT_RECEIVER } from "../receivers/snapshot-http.ts";
import { AskedAuthority } from "../runtime/asked-authority.ts";
import type { AskingOutcome, Authority } from "../runtime/authority.ts";
import type { Clock } from "../runtime/clock.ts";
import { PushAuthority } from "../runtime/push-authority.ts";
import type { SnapshotSource } from "../runtime/snapshot-source.ts";
import { createHttpSnapshotSource } from "../snapshot-sources/http-snapshot-source.ts";
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
export const DEFAULT_ANSWER_TIMEOUT_MS = 5_000;

/**
 * Makes something that can be asked the authority of its source. A receiver that reconnects says so by
 * `pipeline.authorities.want(source, "reconnect")`.
 * @throws AuthorityConflictError when the source has an authority already.
 */
export function addAskedSource(source: AskedSource, parts: AuthorityParts): void {
  const { pipeline, clock, onOutcome } = parts;
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

/**
 * Makes the configured snapshot sources the authorities of their sources.
 * @param modules what was made of those that someone else has written, by their ids
 * @throws AuthorityConflictError when a source has an authority already.
 */
export function addConfiguredAuthorities(
  configuration: CollectorConfiguration,
  modules: ReadonlyMap<string, SnapshotSource>,
  parts: AuthorityParts,
): void {
  for (const source of snapshotSourcesInUse(configuration)) {
    const { type: kind, id, settings } = source;
    if (source.type === "push") {
      parts.pipeline.authorities.add(pushAuthority(source, parts));
      continue;
    }
    const snapshotSource = source.type === "http" ? createHttpSnapshotSource(source.settings) : modules.get(id);
    if (snapshotSource === undefined) throw new Error(`${id} was not made`);
    const supportLevel = kind === "module" ? (snapshotSource.supportLevel ?? "experimental") : "supported";
    const policy = policyOf(settings as AskedSourceConfiguration);
    addAskedSource({ id, kind, supportLevel, snapshotSource, policy, timeoutMs: source.settings.timeoutMs }, parts);
  }
}

function policyOf({ intervalMs, retry }: AskedSourceConfiguration): AskingPolicy {
  const { initialIntervalMs, maxIntervalMs } = retry;
  const pauseMs = Math.min(DEFAULT_ASKING_POLICY.pauseMs, intervalMs);
  return { intervalMs, pauseMs, retryMs: initialIntervalMs, maxRetryMs: maxIntervalMs };
}

function pushAuthority(
  { id, type: kind, settings }: ConfiguredSnapshotSource & { readonly type: "push" },
  { clock, onOutcome }: AuthorityParts,
): Authority {
  return new PushAuthority({
    id,
    kind,
    supportLevel: "supported",
    source: settings.source,
    receiver: SNAPSHOT_RECEIVER,
    sender: settings.tokenName,
    intervalMs: settings.intervalMs,
    clock,
    onOutcome: (outcome, durationMs) => onOutcome(id, outcome, durationMs),
  });
}
