import { createRequire, findPackageJSON } from "node:module";
import { isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { reasonOf } from "./plugin-specification.ts";

export type ModuleResolution = { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly text: string };

/**
 * Finds the file of a module. A package is looked for from the configuration's folder upwards, then among the
 * collector's own dependencies, where a package installed beside it lies.
 */
export function resolveModule(module: string, folder: string): ModuleResolution {
  if (isPath(module)) return { ok: true, url: pathToFileURL(resolve(folder, module)) };
  const starts = [pathToFileURL(join(folder, "configuration")), new URL(import.meta.url)];
  let text = "";
  for (const start of starts) {
    try {
      return { ok: true, url: pathToFileURL(createRequire(start).resolve(module)) };
    } catch (error) {
      text ||= isInstalled(module, start)
        ? `the package ${module} has no entry under the condition "default": ${reasonOf(error)}`
        : `there is no package ${module}: install it beside the configuration, or name a file by ./ and its path`;
    }
  }
  return { ok: false, text };
}

function isPath(module: string): boolean {
  return module.startsWith("./") || module.startsWith("../") || isAbsolute(module);
}

function isInstalled(module: string, start: URL): boolean {
  try {
    return findPackageJSON(module, start) !== undefined;
  } catch {
    return false;
  }
}
