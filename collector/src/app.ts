import type { Readable } from "node:stream";
import { createMetrics } from "./api/metrics.ts";
import type { ApiOptions } from "./api/register-api.ts";
import { receiversInUse } from "./config/components.ts";
import type { CollectorConfiguration, OtlpHttpConfiguration } from "./config/configuration.ts";
import { freshnessOf, shortestStaleAfterMs } from "./config/freshness.ts";
import { planReload, type ReloadPlan } from "./config/reload.ts";
import { childrenOf, type FoldResult, Liveness } from "./core/index.ts";
import type { HttpServerOptions } from "./http/http-server.ts";
import { createJsonlFileReceiver } from "./receivers/jsonl-file.ts";
import { createJsonlStreamReceiver } from "./receivers/jsonl-stream.ts";
import { type Clock, SYSTEM_CLOCK } from "./runtime/clock.ts";
import type { Component } from "./runtime/component.ts";
import { createCurrentReader } from "./runtime/current-reader.ts";
import { Door } from "./runtime/door.ts";
import type { Intake } from "./runtime/intake.ts";
import { DEFAULT_MAX_LATENESS_MS, LivenessLoop } from "./runtime/liveness-loop.ts";
import type { ProjectionReader } from "./runtime/projection-reader.ts";
import { ProjectionState } from "./runtime/projection-state.ts";
import { READY, type Readiness } from "./runtime/readiness.ts";
import { Retention } from "./runtime/retention.ts";
import type { Schedule } from "./runtime/schedule.ts";
import { createUpdateFeed, type UpdateFeed } from "./runtime/update-feed.ts";
import { Writer } from "./runtime/writer.ts";
import { createAccessControl } from "./security/token-access.ts";
import { loadTokens } from "./security/token-file.ts";
import { createApiServer } from "./server/api-server.ts";
import type { IngestOptions } from "./server/ingest-routes.ts";
import { createIngestServer } from "./server/ingest-server.ts";
import { openSqliteStore } from "./store/sqlite/sqlite-store.ts";
import type { Store } from "./store/store.ts";

/** The part of a logger that the collector uses. Event contents are never logged. */
export interface CollectorLog {
  info(members: object, message: string): void;
  error(members: object, message: string): void;
}

export interface CollectorSeams {
  readonly log: CollectorLog;
  /** Read when the receiver `jsonl_stdin` is to run. */
  readonly stdin?: Readable;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Where inputs become durable; closed together with the collector. Default: SQLite in the configured `storage.path`. */
  readonly store?: Store;
  /** The pace of the looks for silence. Default: timers that keep no process alive. */
  readonly schedule?: Schedule;
  /** The pace of retention. Default: timers that keep no process alive. */
  readonly retentionSchedule?: Schedule;
}

/** A running collector. */
export interface Collector {
  /** Base URL of OTLP/HTTP and the other ingest routes. `undefined` when OTLP/HTTP is off; the API's server takes evidence all the same. */
  readonly ingestUrl: string | undefined;
  /** Base URL of board, API and metrics. */
  readonly apiUrl: string;
  /** For hosts that embed the collector: the same door that every receiver uses. */
  readonly intake: Intake;
  readonly reader: ProjectionReader;
  readonly updates: UpdateFeed;
  /** Stops taking, finishes what was taken, makes it durable, and closes the store. Safe twice. */
  shutdown(): Promise<void>;
  /** Names of the parts that have not stopped: all of them before `shutdown`, none after it. */
  runningParts(): readonly string[];
  /**
   * Puts in force what of a configuration without problems can be while it runs, and reads the files of tokens again.
   * @throws SecretFileError when such a file cannot be used; nothing has changed then.
   */
  reload(configuration: CollectorConfiguration): Promise<ReloadPlan>;
}

/** How long requests that run may take to their end at a shutdown, if it may take that long. Milliseconds. */
const MAX_REQUEST_PATIENCE_MS = 5_000;

/** A part under the name that a shutdown knows it by. */
interface RunningPart {
  readonly name: string;
  readonly component: Component;
}

/**
 * Builds the collector's parts, introduces them to each other, and starts them: the log is replayed and the collector
 * has said that it is back before anything new is let in.
 * @throws StoreUnavailableError when the database cannot be used, and the operating system's error for a taken port.
 */
export async function startCollector(configuration: CollectorConfiguration, seams: CollectorSeams): Promise<Collector> {
  const { log, clock = SYSTEM_CLOCK } = seams;
  const onError = (error: unknown): void => log.error({ error: describe(error) }, "unexpected fault");
  const logFault = (message: string, error: unknown): void => log.error({ error: describe(error) }, message);
  const { storage, lifecycle, limits, service } = configuration;
  const store = seams.store ?? openSqliteStore({ path: storage.path, synchronous: storage.synchronous });
  const running: RunningPart[] = [];
  try {
    const state = new ProjectionState(store);
    const liveness = new Liveness((source) => freshnessOf(lifecycle, source));
    for (const record of childrenOf(state.projection)) liveness.observe({ before: undefined, after: record });
    const updates = createUpdateFeed(onError);
    const metrics = createMetrics();
    const writer = new Writer({
      store,
      state,
      clock,
      publisher: updates,
      telemetry: metrics.telemetry,
      snapshotPolicyOf: (source) => ({
        missingGrace: lifecycle.missingGrace,
        reconcileDeadlineMs: freshnessOf(lifecycle, source).reconcileDeadlineMs,
      }),
      onFolded: ({ changes }: FoldResult) => {
        for (const change of changes) liveness.observe(change);
      },
      onError: logFault,
      onRecovery: (message) => log.info({}, message),
      maxQueueBytes: limits.queueBytes,
    });
    const door = new Door({ writer, clock, telemetry: metrics.telemetry });
    const reader = createCurrentReader(store, state, () => writer.checkpoint());
    const loop = new LivenessLoop({
      clock,
      liveness,
      child: (source, childId) => state.child(source, childId),
      submit: (verdicts) => writer.submitVerdicts(verdicts),
      isReceiving: () => writer.unavailable === undefined,
      onError,
      intervalMs: lifecycle.checkIntervalMs,
      maxLatenessMs: Math.min(DEFAULT_MAX_LATENESS_MS, shortestStaleAfterMs(lifecycle) / 2),
      ...(seams.schedule === undefined ? undefined : { schedule: seams.schedule }),
    });
    const retention = new Retention({
      store,
      state,
      writer,
      clock,
      publisher: updates,
      telemetry: metrics.telemetry,
      limits: storage.retention,
      intervalMs: storage.retention.intervalMs,
      onError: logFault,
      ...(seams.retentionSchedule === undefined ? undefined : { schedule: seams.retentionSchedule }),
    });
    const readiness = (): Readiness =>
      writer.unavailable === undefined ? READY : { ready: false, reason: writer.unavailable };

    const access = createAccessControl({ tokens: loadTokens(configuration.access.tokens).tokens });
    const shared = {
      onError,
      access,
      shutdownTimeoutMs: Math.min(MAX_REQUEST_PATIENCE_MS, service.shutdownTimeoutMs / 3),
      maxBodiesBytes: limits.bodiesBytes,
      maxConnections: limits.connections,
    };
    const ingestDependencies = { intake: door, telemetry: metrics.telemetry };
    const http = otlpHttpInUse(configuration);
    const ingest =
      http === undefined
        ? undefined
        : await createIngestServer(ingestDependencies, { ...shared, ...ingestOptionsOf(http) });
    const api = await createApiServer(
      { ...ingestDependencies, reader, updates, clock, readiness, metrics },
      { ...shared, ...apiOptionsOf(configuration, http) },
    );
    const receivers = createStreamReceivers(configuration, seams, door, onError);

    // Verdicts need the writer, receivers need both: they stop in the reverse of this order.
    const parts: readonly RunningPart[] = [
      { name: "retention", component: retention },
      { name: "liveness", component: loop },
      ...(ingest === undefined ? [] : [{ name: "otlp/http", component: ingest }]),
      { name: "api", component: api },
      ...receivers,
    ];
    for (const part of parts) {
      running.unshift(part);
      await part.component.start();
    }
    log.info({ inputs: state.lastInputId, live: state.summary.live }, "ready");
    let shutdown: Promise<void> | undefined;
    let isClosed = false;
    let inForce = configuration;
    return {
      ingestUrl: ingest?.url(),
      apiUrl: api.url(),
      intake: door,
      reader,
      updates,
      shutdown: () => {
        shutdown ??= stop(running, writer, onError).finally(() => {
          store.close();
          isClosed = true;
        });
        return shutdown;
      },
      runningParts: () => (isClosed ? [] : [...running.map(({ name }) => name), "writer"]),
      reload: async (next) => {
        const plan = planReload(inForce, next);
        access.replace({ tokens: loadTokens(plan.configuration.access.tokens).tokens });
        inForce = plan.configuration;
        return plan;
      },
    };
  } catch (error) {
    await shutDown(running, onError);
    store.close();
    throw error;
  }
}

function otlpHttpInUse(configuration: CollectorConfiguration): OtlpHttpConfiguration | undefined {
  const otlp = receiversInUse(configuration).find(({ type }) => type === "otlp");
  return otlp?.type === "otlp" ? (otlp.settings.protocols.http ?? undefined) : undefined;
}

function ingestOptionsOf(http: OtlpHttpConfiguration): Omit<HttpServerOptions & IngestOptions, "onError"> {
  const { endpoint, maxRequestBodyBytes: maxBodyBytes, allowedHosts, allowedOrigins } = http;
  return { ...endpoint, maxBodyBytes, allowedHosts, allowedOrigins };
}

function apiOptionsOf(
  { api }: CollectorConfiguration,
  http: OtlpHttpConfiguration | undefined,
): Omit<HttpServerOptions & IngestOptions & ApiOptions, "onError"> {
  const { endpoint, allowedHosts, allowedOrigins, maxStreams } = api;
  const bodies = http === undefined ? undefined : { maxBodyBytes: http.maxRequestBodyBytes };
  return { ...endpoint, ...bodies, allowedHosts, allowedOrigins, maxStreams };
}

function createStreamReceivers(
  configuration: CollectorConfiguration,
  { stdin }: CollectorSeams,
  intake: Intake,
  onError: (error: unknown) => void,
): readonly RunningPart[] {
  return receiversInUse(configuration).flatMap((receiver): readonly RunningPart[] => {
    const { id: name } = receiver;
    if (receiver.type === "jsonl_file") {
      return [{ name, component: createJsonlFileReceiver({ intake, onError, ...receiver.settings }) }];
    }
    if (receiver.type !== "jsonl_stdin" || stdin === undefined) return [];
    return [{ name, component: createJsonlStreamReceiver({ intake, stream: stdin, onError, ...receiver.settings }) }];
  });
}

async function stop(running: RunningPart[], writer: Writer, onError: (error: unknown) => void): Promise<void> {
  await shutDown(running, onError);
  await writer.close();
}

/** One part that cannot stop must not keep the others from it. */
async function shutDown(running: RunningPart[], onError: (error: unknown) => void): Promise<void> {
  for (let part = running[0]; part !== undefined; part = running[0]) {
    try {
      await part.component.shutdown();
    } catch (error) {
      onError(error);
    }
    running.shift();
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
