import { SUPPORT_LEVELS } from "@agent-lifecycle/proto";
import { type ChildRecord, viewOf } from "../core/index.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Component } from "../runtime/component.ts";
import type { ComponentContext, ComponentLog } from "../runtime/component-context.ts";
import type { ExportCursors } from "../runtime/export-cursors.ts";
import type { ExportLog } from "../runtime/export-log.ts";
import { ExportLoop } from "../runtime/export-loop.ts";
import type { ExportTelemetry } from "../runtime/export-telemetry.ts";
import type { Exporter } from "../runtime/exporter.ts";
import type { Intake } from "../runtime/intake.ts";
import type { Schedule } from "../runtime/schedule.ts";
import type { SnapshotSource } from "../runtime/snapshot-source.ts";
import type { UpdateFeed } from "../runtime/update-feed.ts";
import { scheduleDeadline, withinDeadline } from "./deadline.ts";
import { guardComponent } from "./guarded-component.ts";
import type { LoadedPlugin } from "./load-plugins.ts";
import { PLUGIN_FACTORIES, PluginError, reasonOf } from "./plugin-specification.ts";
import { gateIntake } from "./receiver-intake.ts";

/** What plugins are connected to. */
export interface PluginParts {
  readonly intake: Intake;
  readonly child: (source: string, childId: string) => ChildRecord | undefined;
  readonly exportLog: ExportLog;
  readonly updates: UpdateFeed;
  readonly cursors: ExportCursors;
  readonly exportTelemetry?: ExportTelemetry;
  readonly clock: Clock;
  readonly log: ComponentLog;
  /** The configuration's folder. Absolute. */
  readonly folder: string;
  readonly schedule?: Schedule;
  /** How long making or starting one may take. Milliseconds; default 10,000. */
  readonly startTimeoutMs?: number;
  /** How long one may take to stop. Milliseconds; default 5,000. */
  readonly shutdownTimeoutMs?: number;
}

const DEFAULT_START_TIMEOUT_MS = 10_000;
const DEFAULT_SHUTDOWN_TIMEOUT_MS = 5_000;

/** Components that are made and not started; each keeps to the contract, whatever is in it. */
export interface CreatedPlugins {
  readonly receivers: readonly Component[];
  readonly exporters: readonly Component[];
  readonly snapshotSources: readonly SnapshotSource[];
}

type Settings = PluginParts & Required<Pick<PluginParts, "schedule" | "startTimeoutMs" | "shutdownTimeoutMs">>;

/** Makes the components of loaded modules. @throws PluginError that names the one that could not be made. */
export async function createPlugins(plugins: readonly LoadedPlugin[], parts: PluginParts): Promise<CreatedPlugins> {
  const settings: Settings = {
    schedule: scheduleDeadline,
    startTimeoutMs: DEFAULT_START_TIMEOUT_MS,
    shutdownTimeoutMs: DEFAULT_SHUTDOWN_TIMEOUT_MS,
    ...parts,
  };
  const receivers: Component[] = [];
  const exporters: Component[] = [];
  const snapshotSources: SnapshotSource[] = [];
  for (const plugin of plugins) {
    if (plugin.kind === "receiver") receivers.push(await createReceiver(plugin, settings));
    else if (plugin.kind === "exporter") exporters.push(await createExporter(plugin, settings));
    else snapshotSources.push(await createSnapshotSource(plugin, settings));
  }
  return { receivers, exporters, snapshotSources };
}

async function createReceiver(
  { specification: { id }, options, create }: LoadedPlugin & { readonly kind: "receiver" },
  settings: Settings,
): Promise<Component> {
  const gate = gateIntake(settings.intake, id);
  const context = { ...contextOf(id, settings), intake: gate.intake };
  const receiver = await make(id, () => create(context, options), settings);
  expectMethods(receiver, id, "receiver", ["start", "shutdown"]);
  return guardComponent(receiver, { ...guardOf(id, settings), onEnd: gate.close });
}

async function createExporter(
  { specification: { id }, options, create }: LoadedPlugin & { readonly kind: "exporter" },
  settings: Settings,
): Promise<Component> {
  const { exportTelemetry, exportLog, updates, cursors, schedule } = settings;
  const child = (source: string, childId: string): ReturnType<typeof viewOf> | undefined => {
    const record = settings.child(source, childId);
    return record === undefined ? undefined : viewOf(record);
  };
  const context = contextOf(id, settings);
  const exporter = await make(id, () => create({ ...context, child }, options), settings);
  expectMethods(exporter, id, "exporter", ["start", "shutdown", "export"]);
  // All within the time that one component has: the batch on its way, then the exporter, then its cursor.
  const guard = guardOf(id, settings);
  const { shutdownTimeoutMs } = guard;
  const guarded: Exporter = {
    ...guardComponent(exporter, { ...guard, shutdownTimeoutMs: shutdownTimeoutMs / 2 }),
    export: (batch, signal) => exporter.export(batch, signal),
  };
  const telemetry = exportTelemetry === undefined ? undefined : { telemetry: exportTelemetry };
  const loop = new ExportLoop({
    id,
    exporter: guarded,
    exportLog,
    updates,
    cursors,
    log: context.log,
    schedule,
    shutdownGraceMs: shutdownTimeoutMs / 4,
    ...telemetry,
  });
  return guardComponent(loop, guard);
}

async function createSnapshotSource(
  { specification, options, create }: LoadedPlugin & { readonly kind: "snapshot_source" },
  settings: Settings,
): Promise<SnapshotSource> {
  const { id, source: asked = "" } = specification;
  const made = await make(id, () => create({ ...contextOf(id, settings), source: asked }, options), settings);
  expectMethods(made, id, "snapshot_source", ["start", "shutdown", "fetch"]);
  const { source } = made;
  if (typeof source !== "string" || source === "") {
    throw new PluginError(id, `what ${id} made does not say which source it answers for: source must be a text`);
  }
  if (source !== asked) {
    throw new PluginError(id, `what ${id} made answers for the source ${source}, and is configured for ${asked}`);
  }
  const { supportLevel } = made;
  if (supportLevel !== undefined && !SUPPORT_LEVELS.includes(supportLevel)) {
    const levels = SUPPORT_LEVELS.join(", ");
    throw new PluginError(
      id,
      `what ${id} made states a level of support that there is none of: it is one of ${levels}`,
    );
  }
  return {
    ...guardComponent(made, guardOf(id, settings)),
    source,
    ...(supportLevel === undefined ? undefined : { supportLevel }),
    fetch: (signal) => made.fetch(signal),
  };
}

async function make<Made>(id: string, create: () => Made | Promise<Made>, settings: Settings): Promise<Made> {
  const { startTimeoutMs, schedule } = settings;
  const outcome = await withinDeadline(create, startTimeoutMs, schedule);
  if (outcome.kind === "done") return outcome.value;
  if (outcome.kind === "late") throw new PluginError(id, `${id} was not made within ${startTimeoutMs} ms`);
  throw new PluginError(id, `${id} could not be made: ${reasonOf(outcome.error)}`, { cause: outcome.error });
}

/** A module may be JavaScript of anybody: what it made is looked at before it is relied on. */
function expectMethods(made: unknown, id: string, kind: keyof typeof PLUGIN_FACTORIES, names: readonly string[]): void {
  const members = (typeof made === "object" && made !== null ? made : {}) as Readonly<Record<string, unknown>>;
  const missing = names.filter((name) => typeof members[name] !== "function");
  if (missing.length === 0) return;
  throw new PluginError(id, `what ${PLUGIN_FACTORIES[kind]} of ${id} made has no ${missing.join(", no ")}`);
}

function contextOf(id: string, { clock, log, folder }: Settings): ComponentContext {
  return {
    id,
    clock,
    folder,
    log: {
      info: (members, message) => log.info({ ...members, component: id }, message),
      error: (members, message) => log.error({ ...members, component: id }, message),
    },
  };
}

function guardOf(
  id: string,
  { log, schedule, startTimeoutMs, shutdownTimeoutMs }: Settings,
): Parameters<typeof guardComponent>[1] {
  return { id, log, schedule, startTimeoutMs, shutdownTimeoutMs };
}

/** Where the cursors of a database's exporters are kept when nothing else is said. */
export function cursorFolderOf(database: string): string {
  return `${database}.exporters`;
}
