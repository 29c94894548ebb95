import type { Readable } from "node:stream";
import { createMetrics } from "./api/metrics.ts";
import { composeAdminActions } from "./composition/admin-actions.ts";
import { composeAdmission } from "./composition/admission.ts";
import { type AskedSource, addAskedSource, addConfiguredAuthorities } from "./composition/authorities.ts";
import { type CollectorLog, describe } from "./composition/collector-log.ts";
import { composeLineReceivers, composeModules, loadModules } from "./composition/components.ts";
import { composeExporters } from "./composition/exporters.ts";
import { composeHermesReceivers } from "./composition/hermes-receivers.ts";
import { composeListeners } from "./composition/listeners.ts";
import { composePipeline } from "./composition/pipeline.ts";
import { type NamedPart, RunningParts, stoppingFirst } from "./composition/running-parts.ts";
import type { CollectorConfiguration } from "./config/configuration.ts";
import { planReload, type ReloadPlan } from "./config/reload.ts";
import type { AdminResult } from "./runtime/admin-actions.ts";
import { AdminAudit } from "./runtime/admin-audit.ts";
import { type Clock, SYSTEM_CLOCK } from "./runtime/clock.ts";
import { createFilePositions } from "./runtime/file-positions.ts";
import type { Intake } from "./runtime/intake.ts";
import type { ProjectionReader } from "./runtime/projection-reader.ts";
import type { Schedule } from "./runtime/schedule.ts";
import type { UpdateFeed } from "./runtime/update-feed.ts";
import { type AccessGrants, createAccessControl } from "./security/token-access.ts";
import { loadTokens } from "./security/token-file.ts";
import { type DatabaseStore, openSqliteStore } from "./store/sqlite/sqlite-store.ts";
import type { Store } from "./store/store.ts";

export type { AskedSource } from "./composition/authorities.ts";
export type { CollectorLog } from "./composition/collector-log.ts";

export interface CollectorSeams {
  readonly log: CollectorLog;
  /** Read when the receiver `jsonl_stdin` is to run. */
  readonly stdin?: Readable;
  /** What relative paths of modules start at. Absolute; default: the working directory. */
  readonly folder?: string;
  /** What a host that embeds the collector brings as authorities of its sources. Default: none. */
  readonly askedSources?: readonly AskedSource[];
  /** Reads the configuration again and puts it in force, when an administrator asks for it. Default: not possible. */
  readonly reload?: () => Promise<AdminResult>;
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
  /** Where OTLP/gRPC listens, as a URL. `undefined` when it is off. */
  readonly grpcUrl: string | undefined;
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
   * Puts in force what of a configuration without problems can be while it runs, and reads the files of tokens and
   * certificates again.
   * @throws SecretFileError or CertificateError when such a file cannot be used; nothing has changed then.
   */
  reload(configuration: CollectorConfiguration): Promise<ReloadPlan>;
}

/**
 * Builds the collector's parts, introduces them to each other, and starts them: the log is replayed and the collector
 * has said that it is back before anything new is let in.
 * @throws StoreUnavailableError when the database cannot be used, PluginError when a module cannot, SecretFileError or
 * CertificateError for files of tokens and certificates, AuthorityConflictError when a source would have two
 * authorities, and the operating system's error for a taken port.
 */
export async function startCollector(configuration: CollectorConfiguration, seams: CollectorSeams): Promise<Collector> {
  const { log, clock = SYSTEM_CLOCK, folder = process.cwd() } = seams;
  const onError = (error: unknown): void => log.error({ error: describe(error) }, "unexpected fault");
  // What the configuration names is looked at before the database is: it may be wrong without anything having happened.
  const access = createAccessControl(grantsOf(configuration, log));
  const modules = await loadModules(configuration, folder);
  const { store, adminActions } = openStore(configuration, seams);
  const running = new RunningParts(onError);
  try {
    const metrics = createMetrics();
    const { schedule, retentionSchedule } = seams;
    const { path } = configuration.storage;
    const visibilityFolder = seams.store === undefined ? `${path}.visibility` : undefined;
    const pipeline = composePipeline({
      configuration,
      store,
      clock,
      log,
      metrics,
      schedule,
      retentionSchedule,
      visibilityFolder,
    });
    const { writer, door, reader, updates, readiness, retention } = pipeline;
    const { limits } = configuration;
    const admission = composeAdmission({ limits, clock, writer, telemetry: metrics.telemetry });
    const { exportTelemetry, countAsking: onOutcome } = metrics;
    const gateways = composeHermesReceivers({ configuration, folder, pipeline, clock, log, onOutcome });
    const observed = gateways.map(({ receiver }) => receiver);
    const actions = composeAdminActions({
      retention,
      reload: seams.reload,
      storage: configuration.storage,
      observed,
      child: (source, childId) => pipeline.state.child(source, childId),
      onError,
    });
    const admin = adminActions && { actions, audit: new AdminAudit(adminActions(), clock) };
    const listeners = await composeListeners({
      configuration,
      dependencies: {
        intake: door,
        telemetry: metrics.telemetry,
        reader,
        updates,
        clock,
        readiness,
        metrics,
        authorities: () => pipeline.authorities.all,
        observed,
        visibility: pipeline.visibility,
        ...(admin === undefined ? undefined : { admin }),
      },
      access,
      admission,
      log,
      onError,
    });
    const others = await composeModules(modules, {
      configuration,
      folder,
      pipeline,
      store,
      clock,
      log,
      exportTelemetry,
    });
    const authorityParts = { pipeline, clock, onOutcome: metrics.countAsking };
    addConfiguredAuthorities(configuration, others.snapshotSources, authorityParts);
    for (const source of seams.askedSources ?? []) addAskedSource(source, authorityParts);
    // A store that a host brings lies nobody knows where: its files are read from their beginning.
    const positions =
      seams.store === undefined
        ? createFilePositions(`${configuration.storage.path}.positions`, () => pipeline.state.lastInputId)
        : undefined;
    const exporters = composeExporters({ configuration, pipeline, store, metrics, clock, log });
    // Verdicts need the writer, receivers need both: they stop in the reverse of this order.
    const parts: readonly NamedPart[] = [
      { name: "pressure", component: admission.pressure },
      { name: "retention", component: retention },
      { name: "liveness", component: pipeline.liveness },
      ...exporters,
      ...others.exporters,
      ...listeners.parts,
      ...composeLineReceivers(configuration, seams.stdin, door, positions, log),
      ...others.receivers,
      ...gateways.map(({ id: name, receiver: component }) => ({ name, component })),
      // Receivers may be what an authority is asked through. No verdict is given on one that is not asked any more.
      { name: "authorities", component: stoppingFirst(pipeline.liveness, pipeline.authorities) },
    ];
    await running.start(parts);
    log.info({ inputs: pipeline.state.lastInputId, live: pipeline.state.summary.live }, "ready");
    const stop = async (): Promise<void> => {
      await running.shutdown();
      await writer.close();
    };
    let shutdown: Promise<void> | undefined;
    let isClosed = false;
    let inForce = configuration;
    return {
      ingestUrl: listeners.ingest?.url(),
      grpcUrl: listeners.grpc?.endpoint(),
      apiUrl: listeners.api.url(),
      intake: door,
      reader,
      updates,
      shutdown: () => {
        shutdown ??= stop().finally(() => {
          store.close();
          isClosed = true;
        });
        return shutdown;
      },
      runningParts: () => (isClosed ? [] : [...running.names, "writer"]),
      reload: async (next) => {
        const plan = planReload(inForce, next);
        const { storage, limits: limitsNow } = plan.configuration;
        const grants = grantsOf(plan.configuration, log);
        const putCertificatesInForce = listeners.prepareCertificates(plan.configuration);
        access.replace(grants);
        await putCertificatesInForce();
        retention.limits = storage.retention;
        admission.limitRate(limitsNow.requestsPerSecond);
        inForce = plan.configuration;
        return plan;
      },
    };
  } catch (error) {
    await running.shutdown();
    store.close();
    throw error;
  }
}

/** Who may do what, the files of tokens read. What is unwise about tokens is logged, and stops nothing. */
function grantsOf({ access }: CollectorConfiguration, log: CollectorLog): AccessGrants {
  const { tokens, warnings } = loadTokens(access.tokens);
  for (const warning of warnings) log.info({ warning }, "a token could be kept better");
  return { tokens, certificates: access.certificates };
}

/** A store that a host brings keeps no record of what administrators do: then there is no admin API. */
function openStore(
  { storage }: CollectorConfiguration,
  seams: CollectorSeams,
): { readonly store: Store; readonly adminActions: DatabaseStore["adminActions"] | undefined } {
  if (seams.store !== undefined) return { store: seams.store, adminActions: undefined };
  const store = openSqliteStore({ path: storage.path, synchronous: storage.synchronous });
  return { store, adminActions: () => store.adminActions() };
}
