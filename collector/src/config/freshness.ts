import type { FreshnessPolicy } from "../core/index.ts";
import type { LifecycleConfiguration } from "./lifecycle-configuration.ts";

/** The freshness policy in force for a source. */
export function freshnessOf(lifecycle: LifecycleConfiguration, source: string): FreshnessPolicy {
  const own = lifecycle.sources.get(source);
  if (own === undefined) return lifecycle;
  return {
    staleAfterMs: own.staleAfterMs ?? lifecycle.staleAfterMs,
    reconcileDeadlineMs: own.reconcileDeadlineMs ?? lifecycle.reconcileDeadlineMs,
  };
}

/** The shortest silence that makes any child stale. Milliseconds. */
export function shortestStaleAfterMs(lifecycle: LifecycleConfiguration): number {
  const sources = [...lifecycle.sources.keys()].map((source) => freshnessOf(lifecycle, source).staleAfterMs);
  return Math.min(lifecycle.staleAfterMs, ...sources);
}
