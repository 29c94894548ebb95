import { formatPath } from "../config/problem.ts";
import { loadPlugins } from "../plugins/load-plugins.ts";
import type { PluginSpecification } from "../plugins/plugin-specification.ts";
import { type Finding, ok, problem } from "./finding.ts";

/** Whether the configured modules load, and take their options. Nothing of them is started. */
export async function checkModules(
  specifications: readonly PluginSpecification[],
  folder: string,
): Promise<readonly Finding[]> {
  const { plugins, problems } = await loadPlugins(specifications, { folder });
  return [
    ...plugins.map(({ specification: { id, module } }) => ok("module", `${id} loads from ${module}`)),
    ...problems.map(({ path, text }) =>
      problem("module", `${formatPath(path)}: ${text}`, "correct it, or leave it out"),
    ),
  ];
}
