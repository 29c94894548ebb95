import type { ConfigurationSchema, SchemaNode } from "@agent-lifecycle/collector/parts";

/** One member of a configuration file, by its path. Names that the operator chooses are in capitals. */
export interface ReferenceEntry {
  readonly path: string;
  readonly kind: string;
  /** As a file says it. `undefined`: none. */
  readonly default: unknown;
  readonly isRequired: boolean;
  readonly description: string;
  /** It is a value and has no members of its own. */
  readonly isLeaf: boolean;
}

/** Every member that the schema knows, in its order. */
export function referenceOf(schema: ConfigurationSchema): readonly ReferenceEntry[] {
  const entries: ReferenceEntry[] = [];
  visit(schema, "");
  return entries;

  function visit(node: SchemaNode, path: string, isRequired = false): void {
    const definition =
      node.$ref === undefined ? node : { ...schema.$defs[node.$ref.slice("#/$defs/".length)], ...node };
    const members = membersOf(definition);
    const { description = "" } = definition;
    if (path !== "") {
      const isLeaf = members.length === 0;
      entries.push({ path, kind: kindOf(definition), default: definition.default, isRequired, description, isLeaf });
    }
    for (const [name, member] of members) {
      visit(member, path === "" ? name : `${path}.${name}`, definition.required?.includes(name) === true);
    }
  }
}

function membersOf({ properties, patternProperties, additionalProperties, items }: SchemaNode): [string, SchemaNode][] {
  const patterns = Object.entries(patternProperties ?? {}).map(([pattern, member]): [string, SchemaNode] => {
    const type = pattern.replaceAll(/[^a-z_]/g, "");
    return [pattern.endsWith("(?:/|$)") ? `${type}/NAME` : type, member];
  });
  const named: [string, SchemaNode][] =
    typeof additionalProperties === "object" ? [["NAME", additionalProperties]] : [];
  const listed: [string, SchemaNode][] = items?.properties === undefined ? [] : [["ITEM", items]];
  return [...Object.entries(properties ?? {}), ...patterns, ...named, ...listed];
}

/** How the reference calls what a file spells in a way of its own; `How a file is read` says how. */
const SPELLED: Readonly<Record<string, string>> = {
  duration: "duration",
  endpoint: "endpoint",
  memory: "size or share",
  path: "path",
  secret: "text",
  size: "size",
};

function kindOf({ $ref, enum: values, items, title, type }: SchemaNode): string {
  const spelled = $ref === undefined ? undefined : SPELLED[$ref.slice("#/$defs/".length)];
  if (spelled !== undefined) return spelled;
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(", ");
  const name = [type].flat()[0];
  if (name === "array")
    return items === undefined || items.properties !== undefined ? "list" : `list of: ${kindOf(items)}`;
  if (name === "object") return "mapping";
  if (title !== undefined) return title;
  return { boolean: "`true`, `false`", integer: "whole number", string: "text" }[String(name)] ?? "";
}

/** The reference as Markdown: one table for each of the file's sections. */
export function referenceTables(schema: ConfigurationSchema): string {
  const entries = referenceOf(schema);
  const sections = entries.filter(({ path }) => !path.includes("."));
  return sections
    .map((section) => {
      const members = entries.filter(({ path }) => path.startsWith(`${section.path}.`));
      const rows = members.map(({ path, kind, isRequired, description, default: value }) => {
        const said = isRequired
          ? "required"
          : value === undefined
            ? ""
            : `\`${JSON.stringify(value).replaceAll(/^"|"$/g, "")}\``;
        return `| \`${path.slice(section.path.length + 1)}\` | ${kind} | ${said} | ${description} |`;
      });
      return [
        `### ${section.path}`,
        "",
        section.description,
        "",
        "| member | value | default | |",
        "|---|---|---|---|",
        ...rows,
      ].join("\n");
    })
    .join("\n\n");
}
