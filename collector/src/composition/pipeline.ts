import type { CollectorMetrics } from "../api/metrics.ts";
import type { CollectorConfiguration } from "../config/configuration.ts";
import { freshnessOf, shortestStaleAfterMs } from "../config/freshness.ts";
import { childrenOf, type FoldResult, Liveness } from "../core/index.ts";
import { Authorities } from "../runtime/authorities.ts";
import type { Clock } from "../runtime/clock.ts";
import { createCurrentReader } from "../runtime/current-reader.ts";
import { Door } from "../runtime/door.ts";
import { DEFAULT_MAX_LATENESS_MS, LivenessLoop } from "../runtime/liveness-loop.ts";
import type { ProjectionReader } from "../runtime/projection-reader.ts";
import { ProjectionState } from "../runtime/projection-state.ts";
import { READY, type Readiness } from "../runtime/readiness.ts";
import { Retention } from "../runtime/retention.ts";
import type { Schedule } from "../runtime/schedule.ts";
import { createUpdateFeed, type UpdateFeed } from "../runtime/update-feed.ts";
import { createVisibilityFiles } from "../runtime/visibility-files.ts";
import { VisibilityLedger } from "../runtime/visibility-ledger.ts";
import { Writer } from "../runtime/writer.ts";
import type { Store } from "../store/store.ts";
import type { CollectorLog } from "./collector-log.ts";
import { describe } from "./collector-log.ts";

export interface PipelineParts {
  readonly configuration: CollectorConfiguration;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: CollectorLog;
  readonly metrics: CollectorMetrics;
  /** The pace of the looks for silence. */
  readonly schedule: Schedule | undefined;
  readonly retentionSchedule: Schedule | undefined;
  /** Where declarations of visibility are kept. Default: nowhere, and they are forgotten with the process. */
  readonly visibilityFolder: string | undefined;
}

/** From the door to the store, and what looks at the projection in between. Nothing runs yet. */
export interface Pipeline {
  readonly state: ProjectionState;
  readonly writer: Writer;
  readonly door: Door;
  readonly reader: ProjectionReader;
  readonly updates: UpdateFeed;
  readonly liveness: LivenessLoop;
  /** None yet: whoever makes one adds it before the start. */
  readonly authorities: Authorities;
  readonly retention: Retention;
  readonly visibility: VisibilityLedger;
  readonly readiness: () => Readiness;
}

/** Loads what is stored and puts together what everything received goes through. */
export function composePipeline(parts: PipelineParts): Pipeline {
  const { configuration, store, clock, log, metrics } = parts;
  const { storage, lifecycle, limits } = configuration;
  const { telemetry } = metrics;
  const logFault = (message: string, error: unknown): void => log.error({ error: describe(error) }, message);
  const onError = (error: unknown): void => logFault("unexpected fault", error);
  const state = new ProjectionState(store);
  const watch = new Liveness((source) => freshnessOf(lifecycle, source));
  for (const record of childrenOf(state.projection)) watch.observe({ before: undefined, after: record });
  metrics.readChildrenFrom({ children: () => childrenOf(state.projection), now: () => clock.wallNow() });
  const updates = createUpdateFeed(onError);
  const authorities = new Authorities();
  const writer = new Writer({
    store,
    state,
    clock,
    publisher: updates,
    telemetry,
    snapshotPolicyOf: (source) => ({
      missingGrace: lifecycle.sources.get(source)?.missingGrace ?? lifecycle.missingGrace,
      reconcileDeadlineMs: freshnessOf(lifecycle, source).reconcileDeadlineMs,
    }),
    maxDiagnostics: limits.diagnostics,
    onFolded: ({ changes }: FoldResult) => {
      for (const change of changes) {
        watch.observe(change);
        authorities.observe(change);
        metrics.observeChange(change);
      }
    },
    onError: logFault,
    onRecovery: (message) => log.info({}, message),
    maxQueueBytes: limits.queueBytes,
  });
  const liveness = new LivenessLoop({
    clock,
    liveness: watch,
    child: (source, childId) => state.child(source, childId),
    submit: (verdicts) => writer.submitVerdicts(verdicts),
    isReceiving: () => writer.unavailable === undefined,
    answerAbout: (record) => authorities.answerAbout(record),
    onResumed: () => authorities.resumed(),
    onError,
    intervalMs: lifecycle.checkIntervalMs,
    maxLatenessMs: Math.min(DEFAULT_MAX_LATENESS_MS, shortestStaleAfterMs(lifecycle) / 2),
    ...(parts.schedule === undefined ? undefined : { schedule: parts.schedule }),
  });
  const retention = new Retention({
    store,
    state,
    writer,
    clock,
    publisher: updates,
    telemetry,
    limits: storage.retention,
    intervalMs: storage.retention.intervalMs,
    onError: logFault,
    ...(parts.retentionSchedule === undefined ? undefined : { schedule: parts.retentionSchedule }),
  });
  const { visibility, door } = composeVisibility(parts, writer, authorities, onError);
  return {
    state,
    writer,
    door,
    visibility,
    reader: createCurrentReader(store, state, () => writer.checkpoint()),
    updates,
    liveness,
    authorities,
    retention,
    readiness: () => (writer.unavailable === undefined ? READY : { ready: false, reason: writer.unavailable }),
  };
}

/** The door, and the ledger that looks at what comes through it and reports by it. */
function composeVisibility(
  { configuration, clock, metrics, visibilityFolder }: PipelineParts,
  writer: Writer,
  authorities: Authorities,
  onError: (error: unknown) => void,
): { readonly visibility: VisibilityLedger; readonly door: Door } {
  const files = visibilityFolder === undefined ? undefined : createVisibilityFiles(visibilityFolder, onError);
  let door: Door | undefined;
  const visibility = new VisibilityLedger({
    declarations: files?.load() ?? [],
    keep: (declaration) => files?.keep(declaration),
    report: (diagnostic) => door?.reportProblem("visibility", diagnostic),
    staleAfterMs: (source) => freshnessOf(configuration.lifecycle, source).staleAfterMs,
    authorityOf: (source) => {
      const authority = authorities.of(source);
      return authority === undefined ? undefined : authority.kind === "push" ? "push" : "pull";
    },
  });
  door = new Door({ writer, clock, telemetry: metrics.telemetry, authorities, visibility });
  return { visibility, door };
}
