import { readFileSync } from "node:fs";

/** What of JSON Schema the configuration's schema uses. */
export interface SchemaNode {
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: boolean | SchemaNode;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
}

export interface ConfigurationSchema extends SchemaNode {
  readonly $defs: Readonly<Record<string, SchemaNode>>;
}

/** Reads the published schema of the configuration. */
export function readConfigurationSchema(): ConfigurationSchema {
  const url = new URL("../../schema/configuration.schema.json", import.meta.url);
  return JSON.parse(readFileSync(url, "utf8")) as ConfigurationSchema;
}

/** The kinds of values that a file spells otherwise than the configuration holds them. */
const SPELLED_KINDS = ["duration", "size", "memory", "endpoint", "path", "secret", "options"] as const;
export type SpelledKind = (typeof SPELLED_KINDS)[number];

/** The definition that a node refers to, under the node's own words; and the kind of value that it names. */
export function definitionOf(
  schema: ConfigurationSchema,
  node: SchemaNode,
): { readonly definition: SchemaNode; readonly kind: SpelledKind | undefined } {
  const name = node.$ref?.slice("#/$defs/".length);
  if (name === undefined) return { definition: node, kind: undefined };
  return { definition: { ...schema.$defs[name], ...node }, kind: SPELLED_KINDS.find((kind) => kind === name) };
}

/** The schema of a member, and whether it is one of many that are named by the operator. */
export function memberSchema(
  { properties, patternProperties, additionalProperties }: SchemaNode,
  name: string,
): { readonly node: SchemaNode; readonly isNamed: boolean } | undefined {
  const own = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (own !== undefined) return { node: own, isNamed: false };
  for (const [pattern, node] of Object.entries(patternProperties ?? {})) {
    if (new RegExp(pattern, "u").test(name)) return { node, isNamed: true };
  }
  return typeof additionalProperties === "object" ? { node: additionalProperties, isNamed: true } : undefined;
}

/** `stale_after` of the kind duration is `staleAfterMs`. */
export function memberName(name: string, kind: SpelledKind | undefined): string {
  const camel = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  if (kind === "duration") return `${camel}Ms`;
  return kind === "size" ? `${camel}Bytes` : camel;
}
