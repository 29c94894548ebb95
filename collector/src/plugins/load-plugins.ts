import { COMPONENT_API_VERSION } from "../runtime/component-context.ts";
import type { ExporterFactory } from "../runtime/exporter.ts";
import type { ReceiverFactory } from "../runtime/receiver.ts";
import type { Schedule } from "../runtime/schedule.ts";
import type { SnapshotSourceFactory } from "../runtime/snapshot-source.ts";
import { scheduleDeadline, withinDeadline } from "./deadline.ts";
import { checkOptions } from "./plugin-options.ts";
import {
  PLUGIN_FACTORIES,
  type PluginPath,
  type PluginProblem,
  type PluginSpecification,
  reasonOf,
} from "./plugin-specification.ts";
import { resolveModule } from "./resolve-module.ts";

interface LoadedBase {
  readonly specification: PluginSpecification;
  /** Valid, with the schema's defaults. */
  readonly options: unknown;
}

/** A module that was loaded and checked, and of which nothing was made yet. */
export type LoadedPlugin = LoadedBase &
  (
    | { readonly kind: "receiver"; readonly create: ReceiverFactory<unknown> }
    | { readonly kind: "exporter"; readonly create: ExporterFactory<unknown> }
    | { readonly kind: "snapshot_source"; readonly create: SnapshotSourceFactory<unknown> }
  );

export interface LoadPluginsOptions {
  /** The configuration's folder. Absolute. */
  readonly folder: string;
  /** How long the loading of one module may take. Milliseconds; default 10,000. */
  readonly loadTimeoutMs?: number;
  readonly schedule?: Schedule;
}

const DEFAULT_LOAD_TIMEOUT_MS = 10_000;

/**
 * Loads the modules and checks what they export and what they are configured with. Finds everything that is wrong with
 * all of them, not only the first thing. Runs the modules' top-level code, and nothing else of them. Never rejects.
 */
export async function loadPlugins(
  specifications: readonly PluginSpecification[],
  options: LoadPluginsOptions,
): Promise<{ readonly plugins: readonly LoadedPlugin[]; readonly problems: readonly PluginProblem[] }> {
  const plugins: LoadedPlugin[] = [];
  const problems: PluginProblem[] = repeatedIds(specifications);
  for (const specification of specifications) {
    const loaded = await loadPlugin(specification, options);
    if (loaded.ok) plugins.push(loaded.plugin);
    else problems.push(...loaded.problems);
  }
  return { plugins, problems };
}

type Loading =
  | { readonly ok: true; readonly plugin: LoadedPlugin }
  | { readonly ok: false; readonly problems: readonly PluginProblem[] };

const ID = /^module(?:\/[A-Za-z0-9][A-Za-z0-9_.-]*)?$/;
const MAX_ID_LENGTH = 64;

async function loadPlugin(specification: PluginSpecification, options: LoadPluginsOptions): Promise<Loading> {
  const { id, module, path } = specification;
  const problem = (text: string, at: PluginPath = path): Loading => ({ ok: false, problems: [{ path: at, text }] });
  if (!ID.test(id) || id.length > MAX_ID_LENGTH) {
    return problem(
      `must be named module or module/NAME, of letters, digits, "_", "." and "-", at most ${MAX_ID_LENGTH}`,
    );
  }
  const modulePath = [...path, "module"];
  const resolution = resolveModule(module, options.folder);
  if (!resolution.ok) return problem(resolution.text, modulePath);
  const { href } = resolution.url;
  const { loadTimeoutMs = DEFAULT_LOAD_TIMEOUT_MS, schedule = scheduleDeadline } = options;
  const imported = await withinDeadline<unknown>(() => import(/* @vite-ignore */ href), loadTimeoutMs, schedule);
  if (imported.kind === "late") return problem(`${module} was not loaded within ${loadTimeoutMs} ms`, modulePath);
  if (imported.kind === "failed") return problem(`${module} cannot be loaded: ${reasonOf(imported.error)}`, modulePath);
  return checkModule(specification, imported.value as Readonly<Record<string, unknown>>);
}

function checkModule(specification: PluginSpecification, exported: Readonly<Record<string, unknown>>): Loading {
  const { kind, module, path, options = {} } = specification;
  const problems: PluginProblem[] = [];
  const version = exported["componentApiVersion"];
  if (version !== COMPONENT_API_VERSION) {
    const text =
      version === undefined
        ? `${module} does not say which version it is written for: export const componentApiVersion = ${COMPONENT_API_VERSION}`
        : `${module} is written for version ${String(version)} of components; this collector knows version ${COMPONENT_API_VERSION}`;
    problems.push({ path: [...path, "module"], text });
  }
  const factory = PLUGIN_FACTORIES[kind];
  const create = exported[factory];
  if (typeof create !== "function")
    problems.push({ path: [...path, "module"], text: missingExport(module, factory, exported) });
  const checked = checkOptions(options, exported["optionsSchema"], [...path, "options"]);
  if (!checked.ok) problems.push(...checked.problems);
  if (problems.length > 0 || !checked.ok) return { ok: false, problems };
  // The name of the export says which factory it is; what it makes is looked at when it was made.
  return { ok: true, plugin: { specification, options: checked.options, kind, create } as LoadedPlugin };
}

function missingExport(module: string, factory: string, exported: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(exported);
  return `${module} exports no function ${factory}; it exports ${names.length === 0 ? "nothing" : names.join(", ")}`;
}

function repeatedIds(specifications: readonly PluginSpecification[]): PluginProblem[] {
  const known = new Set<string>();
  const problems: PluginProblem[] = [];
  for (const { id, kind, path } of specifications) {
    const key = `${kind} ${id}`;
    if (known.has(key)) problems.push({ path, text: `there is another ${kind} named ${id}` });
    known.add(key);
  }
  return problems;
}
