import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { type PluginPath, type PluginProblem, reasonOf } from "./plugin-specification.ts";

export type CheckedOptions =
  | { readonly ok: true; readonly options: unknown }
  | { readonly ok: false; readonly problems: readonly PluginProblem[] };

/**
 * Checks options against a module's JSON Schema (2020-12) and lays in the schema's defaults. All problems at once. Values
 * are never told: an option may be a secret.
 * @param path where the options stand in the configuration
 */
export function checkOptions(options: unknown, schema: unknown, path: PluginPath): CheckedOptions {
  const copy: unknown = structuredClone(options);
  if (schema === undefined) return { ok: true, options: copy };
  let validate: ValidateFunction;
  try {
    validate = new Ajv2020({ allErrors: true, useDefaults: true, strict: false, validateFormats: false }).compile(
      schema as object | boolean,
    );
  } catch (error) {
    return {
      ok: false,
      problems: [{ path, text: `the module's optionsSchema is no JSON Schema: ${reasonOf(error)}` }],
    };
  }
  if (validate(copy)) return { ok: true, options: copy };
  const problems = (validate.errors ?? []).map((error) => problemOf(error, path));
  return { ok: false, problems };
}

function problemOf(error: ErrorObject, path: PluginPath): PluginProblem {
  const members = error.instancePath.split("/").slice(1).map(unescapePointer);
  const at = [...path, ...members];
  const { additionalProperty, allowedValues } = error.params as {
    readonly additionalProperty?: string;
    readonly allowedValues?: readonly unknown[];
  };
  if (additionalProperty !== undefined)
    return { path: [...at, additionalProperty], text: "is no option of this module" };
  if (allowedValues !== undefined) return { path: at, text: `must be one of ${allowedValues.map(String).join(", ")}` };
  return { path: at, text: error.message ?? `breaks the rule ${error.keyword}` };
}

/** One member of a JSON Pointer (RFC 6901); a number where it can be the place in a list. */
function unescapePointer(member: string): string | number {
  if (/^\d{1,15}$/.test(member)) return Number(member);
  return member.replaceAll("~1", "/").replaceAll("~0", "~");
}
