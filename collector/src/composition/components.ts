import type { Readable } from "node:stream";
import { receiversInUse } from "../config/components.ts";
import type { CollectorConfiguration } from "../config/configuration.ts";
import { configuredPlugins } from "../plugins/configured-plugins.ts";
import { createPlugins, cursorFolderOf } from "../plugins/create-plugins.ts";
import { type LoadedPlugin, loadPlugins } from "../plugins/load-plugins.ts";
import { PluginError } from "../plugins/plugin-specification.ts";
import { createJsonlFileReceiver } from "../receivers/jsonl-file.ts";
import { createJsonlStreamReceiver } from "../receivers/jsonl-stream.ts";
import type { Clock } from "../runtime/clock.ts";
import { createCursorFiles } from "../runtime/cursor-files.ts";
import type { ExportTelemetry } from "../runtime/export-telemetry.ts";
import type { FilePositions } from "../runtime/file-positions.ts";
import type { Intake } from "../runtime/intake.ts";
import type { SnapshotSource } from "../runtime/snapshot-source.ts";
import type { Store } from "../store/store.ts";
import { type CollectorLog, describe } from "./collector-log.ts";
import type { Pipeline } from "./pipeline.ts";
import type { NamedPart } from "./running-parts.ts";

/** Loads the modules that a configuration names. @throws PluginError that tells everything that is wrong with them. */
export async function loadModules(
  configuration: CollectorConfiguration,
  folder: string,
): Promise<readonly LoadedPlugin[]> {
  const { plugins, problems } = await loadPlugins(configuredPlugins(configuration), { folder });
  const [first] = problems;
  if (first === undefined) return plugins;
  const list = problems.map(({ path, text }) => `${path.join(".")}: ${text}`);
  throw new PluginError(String(first.path[1]), `modules of the configuration cannot be used: ${list.join("; ")}`);
}

export interface ModuleParts {
  readonly configuration: CollectorConfiguration;
  readonly folder: string;
  readonly pipeline: Pipeline;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: CollectorLog;
  readonly exportTelemetry: ExportTelemetry;
}

/** Components that someone else has written. */
export interface ModuleComponents {
  readonly receivers: readonly NamedPart[];
  readonly exporters: readonly NamedPart[];
  /** By their ids. */
  readonly snapshotSources: ReadonlyMap<string, SnapshotSource>;
}

/** Makes the components of loaded modules. @throws PluginError that names the one that could not be made. */
export async function composeModules(modules: readonly LoadedPlugin[], parts: ModuleParts): Promise<ModuleComponents> {
  const { configuration, pipeline, store } = parts;
  const made = await createPlugins(modules, {
    ...parts,
    intake: pipeline.door,
    child: (source, childId) => pipeline.state.child(source, childId),
    exportLog: store,
    updates: pipeline.updates,
    cursors: createCursorFiles(cursorFolderOf(configuration.storage.path)),
    shutdownTimeoutMs: configuration.service.shutdownTimeoutMs / 3,
  });
  const named = (kind: LoadedPlugin["kind"], components: readonly NamedPart["component"][]): readonly NamedPart[] => {
    const ids = modules.filter((module) => module.kind === kind).map(({ specification }) => specification.id);
    return components.map((component, index) => ({ name: ids[index] ?? kind, component }));
  };
  const sourceIds = modules
    .filter(({ kind }) => kind === "snapshot_source")
    .map(({ specification }) => specification.id);
  return {
    receivers: named("receiver", made.receivers),
    exporters: named("exporter", made.exporters),
    snapshotSources: new Map(sourceIds.map((id, index) => [id, made.snapshotSources[index] as SnapshotSource])),
  };
}

/** The receivers that read lines: files, and standard input. */
export function composeLineReceivers(
  configuration: CollectorConfiguration,
  stdin: Readable | undefined,
  intake: Intake,
  positions: FilePositions | undefined,
  log: CollectorLog,
): readonly NamedPart[] {
  return receiversInUse(configuration).flatMap((receiver): readonly NamedPart[] => {
    const { id: name } = receiver;
    if (receiver.type === "jsonl_file") {
      const kept = positions === undefined ? undefined : { positions };
      const report = (error: unknown): void =>
        log.error({ receiver: name, error: describe(error) }, "a followed file cannot be read");
      const options = { intake, onError: report, ...kept, ...receiver.settings };
      return [{ name, component: createJsonlFileReceiver(options) }];
    }
    if (receiver.type !== "jsonl_stdin" || stdin === undefined) return [];
    const onError = (error: unknown): void =>
      log.error({ receiver: name, error: describe(error) }, "standard input cannot be read");
    return [{ name, component: createJsonlStreamReceiver({ intake, stream: stdin, onError, ...receiver.settings }) }];
  });
}
