import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { isPlain } from "./overlay.ts";
import type { ConfigurationPath, ConfigurationProblem } from "./problem.ts";
import { parseDuration, parseSize } from "./quantities.ts";
import { type ConfigurationSchema, definitionOf, memberSchema, type SchemaNode } from "./schema.ts";
import { suggest } from "./suggestion.ts";

/** A node that may say how its values are spelled. */
interface SpelledNode extends SchemaNode {
  readonly pattern?: string;
}

export interface FileProblems {
  readonly problems: readonly ConfigurationProblem[];
  /** The values that cannot be used. What only lacks a member is none of them. */
  readonly unsound: readonly ConfigurationPath[];
}

/** Everything in a file's values that does not fit the schema. No text quotes a value: it may be a secret. */
export function fileProblems(value: unknown, schema: ConfigurationSchema): FileProblems {
  // Nothing is said, as where there is no file: what checks it need not be made, which takes longer than the rest.
  if (value === null) return { problems: [], unsound: [] };
  const validate = validatorOf(schema);
  const errors = validate(value) ? [] : (validate.errors ?? []);
  const misfits = new Map(errors.map((error) => withKey(problemOf(error, value))));
  const lacking = errors.filter(({ keyword }) => keyword === "required");
  const isLack = new Set(lacking.map((error) => withKey(problemOf(error, value))[0]));
  const empty = emptyQuantities(value, schema, []);
  // A token that lacks its name or its scopes is none.
  const unusable = [...misfits].filter(([key, { path }]) => !isLack.has(key) || path[0] === "access");
  return {
    problems: [...misfits.values(), ...empty],
    unsound: [...unusable.map(([, problem]) => problem), ...empty].map(({ path }) => path),
  };
}

/** Compiling takes a hundred times as long as checking. */
const VALIDATORS = new WeakMap<ConfigurationSchema, ValidateFunction>();

function validatorOf(schema: ConfigurationSchema): ValidateFunction {
  const known = VALIDATORS.get(schema);
  if (known !== undefined) return known;
  const ajv = new Ajv2020({ allErrors: true, verbose: true, allowUnionTypes: true, strictTypes: false });
  const validate = ajv.compile<unknown>(schema);
  VALIDATORS.set(schema, validate);
  return validate;
}

/** Two rules that are broken in one way are one problem. */
function withKey(problem: ConfigurationProblem): readonly [string, ConfigurationProblem] {
  return [JSON.stringify([problem.path, problem.text]), problem];
}

function problemOf({ instancePath, keyword, params, parentSchema }: ErrorObject, value: unknown): ConfigurationProblem {
  const path = pathOf(instancePath, value);
  const schema = (parentSchema ?? {}) as SpelledNode & { readonly minimum?: number };
  if (keyword === "additionalProperties") {
    const name = String(params["additionalProperty"]);
    return { path: [...path, name], text: `is not known here${suggest(name, Object.keys(schema.properties ?? {}))}` };
  }
  if (keyword === "required") return { path, text: `needs ${String(params["missingProperty"])}` };
  if (schema.enum !== undefined) return { path, text: `must be one of ${schema.enum.join(", ")}` };
  if (keyword === "uniqueItems") return { path, text: "names something twice" };
  if (keyword === "minItems") return { path, text: "must not be empty" };
  if (keyword === "maxItems" || keyword === "maxLength")
    return { path, text: `must not have more than ${String(params["limit"])}` };
  if (schema.title !== undefined && typeOf(schema) !== "object")
    return { path, text: `must be ${schema.title}${quoteHint(schema, keyword)}` };
  if (schema.minimum !== undefined) return { path, text: `must be a whole number above 0` };
  return { path, text: `must be ${TYPES[typeOf(schema)] ?? "something else"}${quoteHint(schema, keyword)}` };
}

const TYPES: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  object: "a mapping",
  string: "a text",
};

function typeOf({ type }: SchemaNode): string {
  return [type].flat()[0] ?? "";
}

/** `token: 123` and `token: ${env:TOKEN}` with digits in it are numbers to YAML. */
function quoteHint(schema: SpelledNode, keyword: string): string {
  return keyword === "type" && schema.type === "string" && schema.pattern === undefined
    ? ", in quotes if it reads as something else"
    : "";
}

/** A JSON pointer as a path; what names an item of a list is a number. */
function pathOf(pointer: string, value: unknown): ConfigurationPath {
  const path: (string | number)[] = [];
  let current = value;
  for (const escaped of pointer.split("/").slice(1)) {
    const key = escaped.replaceAll("~1", "/").replaceAll("~0", "~");
    path.push(Array.isArray(current) ? Number(key) : key);
    current = Array.isArray(current) ? current[Number(key)] : isPlain(current) ? current[key] : undefined;
  }
  return path;
}

/** Durations and sizes that have the right form, and come to nothing, to a fraction, or to more than can be counted. */
function emptyQuantities(
  value: unknown,
  schema: ConfigurationSchema,
  path: ConfigurationPath,
  node: SchemaNode = schema,
): readonly ConfigurationProblem[] {
  const { definition, kind } = definitionOf(schema, node);
  if (typeof value === "string" && isSpelled(value, definition)) {
    const isSize = kind === "size" || (kind === "memory" && !value.endsWith("%"));
    if (kind === "duration" && parseDuration(value) === undefined) {
      return [{ path, text: "must be a whole number of milliseconds above 0" }];
    }
    return isSize && parseSize(value) === undefined ? [{ path, text: "must be a whole number of bytes above 0" }] : [];
  }
  if (!isPlain(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const known = memberSchema(definition, name);
    return known === undefined ? [] : emptyQuantities(member, schema, [...path, name], known.node);
  });
}

function isSpelled(value: string, definition: SpelledNode): boolean {
  return definition.pattern !== undefined && new RegExp(definition.pattern, "u").test(value);
}
