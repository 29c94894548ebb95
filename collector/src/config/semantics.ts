import { checkFreshness } from "../core/index.ts";
import { accessProblems } from "./access-semantics.ts";
import { componentProblems } from "./component-semantics.ts";
import type { CollectorConfiguration } from "./configuration.ts";
import { freshnessOf } from "./freshness.ts";
import { listenerProblems } from "./listener-semantics.ts";
import type { ConfigurationPath, ConfigurationProblem } from "./problem.ts";

/** A number that must be whole and above 0. */
type Quantity = readonly [ConfigurationPath, number];

/** Everything that is wrong with a configuration whose members have the right types. */
export function semanticProblems(configuration: CollectorConfiguration): readonly ConfigurationProblem[] {
  return [
    ...quantitiesOf(configuration).flatMap(quantityProblem),
    ...memoryProblem(configuration),
    ...sourceProblems(configuration),
    ...retentionProblems(configuration),
    ...componentProblems(configuration),
    ...accessProblems(configuration),
    ...listenerProblems(configuration),
  ];
}

function quantityProblem([path, value]: Quantity): readonly ConfigurationProblem[] {
  if (Number.isSafeInteger(value) && value > 0) return [];
  return [{ path, text: `must be a whole number above 0, not ${value}` }];
}

function quantitiesOf({ api, storage, lifecycle, limits, service }: CollectorConfiguration): readonly Quantity[] {
  const { maxAgeMs, maxSizeBytes, intervalMs } = storage.retention;
  const sources = [...lifecycle.sources].flatMap(([source, stated]): readonly Quantity[] => [
    ...optional(["lifecycle", "sources", source, "stale_after"], stated.staleAfterMs),
    ...optional(["lifecycle", "sources", source, "reconcile_deadline"], stated.reconcileDeadlineMs),
    ...optional(["lifecycle", "sources", source, "heartbeat_interval"], stated.heartbeatIntervalMs),
    ...optional(["lifecycle", "sources", source, "missing_grace"], stated.missingGrace),
  ]);
  return [
    [["api", "max_streams"], api.maxStreams],
    ...optional(["storage", "retention", "max_age"], maxAgeMs),
    ...optional(["storage", "retention", "max_size"], maxSizeBytes),
    [["storage", "retention", "interval"], intervalMs],
    [["lifecycle", "stale_after"], lifecycle.staleAfterMs],
    [["lifecycle", "reconcile_deadline"], lifecycle.reconcileDeadlineMs],
    [["lifecycle", "missing_grace"], lifecycle.missingGrace],
    [["lifecycle", "check_interval"], lifecycle.checkIntervalMs],
    ...sources,
    [["limits", "queue"], limits.queueBytes],
    [["limits", "bodies"], limits.bodiesBytes],
    [["limits", "connections"], limits.connections],
    [["limits", "event_loop_delay"], limits.eventLoopDelayMs],
    ...optional(["limits", "requests_per_second"], limits.requestsPerSecond),
    [["limits", "diagnostics"], limits.diagnostics],
    [["service", "shutdown_timeout"], service.shutdownTimeoutMs],
  ];
}

function optional(path: ConfigurationPath, value: number | undefined): readonly Quantity[] {
  return value === undefined ? [] : [[path, value]];
}

function memoryProblem({ limits: { memory } }: CollectorConfiguration): readonly ConfigurationProblem[] {
  const path = ["limits", "memory"];
  if (typeof memory === "number") return quantityProblem([path, memory]);
  const percent = /^(\d{1,3}(?:\.\d{1,3})?)%$/.exec(memory)?.[1];
  if (percent !== undefined && Number(percent) > 0 && Number(percent) <= 100) return [];
  return [{ path, text: `must be a size, or a share above 0% and up to 100%, not ${memory}` }];
}

/** S8, for every source that says how often it speaks. */
function sourceProblems({ lifecycle }: CollectorConfiguration): readonly ConfigurationProblem[] {
  return [...lifecycle.sources].flatMap(([source, { heartbeatIntervalMs }]) => {
    const text = checkFreshness(freshnessOf(lifecycle, source), heartbeatIntervalMs);
    return text === undefined ? [] : [{ path: ["lifecycle", "sources", source], text }];
  });
}

/** An empty database with its log takes this much; less than twice of it would leave nothing to keep. */
const SMALLEST_DATABASE_BYTES = 8 * 1024 * 1024;

function retentionProblems({ storage, lifecycle }: CollectorConfiguration): readonly ConfigurationProblem[] {
  const { maxAgeMs, maxSizeBytes } = storage.retention;
  const problems: ConfigurationProblem[] = [];
  if (maxSizeBytes !== undefined && maxSizeBytes > 0 && maxSizeBytes < SMALLEST_DATABASE_BYTES) {
    const text = `must be at least ${SMALLEST_DATABASE_BYTES} bytes, not ${maxSizeBytes}: a database without children takes some`;
    problems.push({ path: ["storage", "retention", "max_size"], text });
  }
  const silenceMs = lifecycle.staleAfterMs + lifecycle.reconcileDeadlineMs;
  if (maxAgeMs !== undefined && maxAgeMs > 0 && maxAgeMs < silenceMs) {
    const text = `${maxAgeMs} ms is below stale_after and reconcile_deadline together, ${silenceMs} ms: evidence would go before it is judged`;
    problems.push({ path: ["storage", "retention", "max_age"], text });
  }
  return problems;
}
