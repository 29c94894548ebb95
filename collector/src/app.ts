import type { Readable } from "node:stream";
import { createMetrics } from "./api/metrics.ts";
import { type CollectorConfiguration, freshnessOf, shortestStaleAfterMs } from "./config/configuration.ts";
import { childrenOf, type FoldResult, Liveness } from "./core/index.ts";
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
import type { Schedule } from "./runtime/schedule.ts";
import { createUpdateFeed, type UpdateFeed } from "./runtime/update-feed.ts";
import { Writer } from "./runtime/writer.ts";
import { createApiServer } from "./server/api-server.ts";
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
  /** Read when the configuration says `jsonlStdin`. */
  readonly stdin?: Readable;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Where inputs become durable; closed together with the collector. Default: SQLite in the configured `database`. */
  readonly store?: Store;
  /** The pace of the looks for silence. Default: timers that keep no process alive. */
  readonly schedule?: Schedule;
}

/** A running collector. */
export interface Collector {
  /** Base URL of OTLP/HTTP and the other ingest routes. */
  readonly ingestUrl: string;
  /** Base URL of board, API and metrics. */
  readonly apiUrl: string;
  /** For hosts that embed the collector: the same door that every receiver uses. */
  readonly intake: Intake;
  readonly reader: ProjectionReader;
  readonly updates: UpdateFeed;
  /** Stops taking, finishes what was taken, makes it durable, and closes the store. Safe twice. */
  shutdown(): Promise<void>;
}

/**
 * Builds the collector's parts, introduces them to each other, and starts them: the log is replayed and the collector
 * has said that it is back before anything new is let in.
 * @throws StoreUnavailableError when the database cannot be used, and the operating system's error for a taken port.
 */
export async function startCollector(configuration: CollectorConfiguration, seams: CollectorSeams): Promise<Collector> {
  const { log, clock = SYSTEM_CLOCK } = seams;
  const onError = (error: unknown): void => log.error({ error: describe(error) }, "unexpected fault");
  const { database: path, synchronous } = configuration;
  const store = seams.store ?? openSqliteStore({ path, synchronous });
  const stopped: Component[] = [];
  try {
    const state = new ProjectionState(store);
    const liveness = new Liveness((source) => freshnessOf(configuration, source));
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
        missingGrace: configuration.missingGrace,
        reconcileDeadlineMs: freshnessOf(configuration, source).reconcileDeadlineMs,
      }),
      onFolded: ({ changes }: FoldResult) => {
        for (const change of changes) liveness.observe(change);
      },
      onError: (message, error) => log.error({ error: describe(error) }, message),
      maxQueueBytes: configuration.maxQueueBytes,
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
      intervalMs: configuration.livenessIntervalMs,
      maxLatenessMs: Math.min(DEFAULT_MAX_LATENESS_MS, shortestStaleAfterMs(configuration) / 2),
      ...(seams.schedule === undefined ? undefined : { schedule: seams.schedule }),
    });
    const readiness = (): Readiness =>
      writer.unavailable === undefined ? READY : { ready: false, reason: writer.unavailable };

    const ingestDependencies = { intake: door, telemetry: metrics.telemetry };
    const ingestOptions = {
      onError,
      maxBodyBytes: configuration.maxBodyBytes,
      allowedHosts: configuration.allowedHosts,
      ...(configuration.ingestToken === undefined ? undefined : { ingestToken: configuration.ingestToken }),
    };
    const ingest = await createIngestServer(ingestDependencies, { ...configuration.ingest, ...ingestOptions });
    const api = await createApiServer(
      { ...ingestDependencies, reader, updates, clock, readiness, metrics },
      {
        ...configuration.api,
        ...ingestOptions,
        ...(configuration.readToken === undefined ? undefined : { readToken: configuration.readToken }),
      },
    );
    const receivers = createStreamReceivers(configuration, seams, door, onError);

    // Verdicts need the writer, receivers need both: they stop in the reverse of this order.
    for (const component of [loop, ingest, api, ...receivers]) {
      stopped.unshift(component);
      await component.start();
    }
    log.info({ inputs: state.lastInputId, live: state.summary.live }, "ready");
    let shutdown: Promise<void> | undefined;
    return {
      ingestUrl: ingest.url(),
      apiUrl: api.url(),
      intake: door,
      reader,
      updates,
      shutdown: () => {
        shutdown ??= stop(stopped, writer, onError).finally(() => store.close());
        return shutdown;
      },
    };
  } catch (error) {
    await shutDown(stopped, onError);
    store.close();
    throw error;
  }
}

function createStreamReceivers(
  configuration: CollectorConfiguration,
  { stdin }: CollectorSeams,
  intake: Intake,
  onError: (error: unknown) => void,
): readonly Component[] {
  const files = configuration.jsonlFiles.map((path) => createJsonlFileReceiver({ intake, path, onError }));
  if (!configuration.jsonlStdin || stdin === undefined) return files;
  return [...files, createJsonlStreamReceiver({ intake, stream: stdin, onError })];
}

async function stop(
  components: readonly Component[],
  writer: Writer,
  onError: (error: unknown) => void,
): Promise<void> {
  await shutDown(components, onError);
  await writer.close();
}

/** One part that cannot stop must not keep the others from it. */
async function shutDown(components: readonly Component[], onError: (error: unknown) => void): Promise<void> {
  for (const component of components) {
    try {
      await component.shutdown();
    } catch (error) {
      onError(error);
    }
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
