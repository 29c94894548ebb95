/** What a module can be loaded for, and the export it is loaded by. */
export const PLUGIN_FACTORIES = {
  receiver: "createReceiver",
  exporter: "createExporter",
  snapshot_source: "createSnapshotSource",
} as const;

export type PluginKind = keyof typeof PLUGIN_FACTORIES;

/** A component of somebody else, as the configuration names it. */
export interface PluginSpecification {
  /** `module` or `module/NAME`, at most 64 characters: it is a label of metrics. Unique among those of its kind. */
  readonly id: string;
  readonly kind: PluginKind;
  /** A path (`./…`, `../…` or absolute; relative ones from the configuration's folder), or the name of a package. */
  readonly module: string;
  /** Checked against the module's `optionsSchema`, if it has one. Default: an empty object. */
  readonly options?: unknown;
  /** Of a snapshot source: the source that it is to answer for. */
  readonly source?: string;
  /** Where the configuration says so, for problems: `["receivers", "module/NAME"]`. */
  readonly path: PluginPath;
}

export type PluginPath = readonly (string | number)[];

/** One thing that is wrong with how a plugin is configured, in words, and where. No value of an option is ever told. */
export interface PluginProblem {
  readonly path: PluginPath;
  readonly text: string;
}

/** A plugin failed at what only it can do. The message names it. */
export class PluginError extends Error {
  readonly pluginId: string;

  constructor(pluginId: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "PluginError";
    this.pluginId = pluginId;
  }
}

/** The sentence of anything thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
