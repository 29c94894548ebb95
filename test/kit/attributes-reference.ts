import { type AttributeDefinition, RECORD_ATTRIBUTES } from "@agent-lifecycle/collector/parts";

/** The attributes of exported log records or spans as a table in Markdown. */
export function attributesTable(on: "log" | "span"): string {
  const all: readonly AttributeDefinition[] = Object.values(RECORD_ATTRIBUTES);
  const rows = all
    .filter((attribute) => attribute.on.includes(on))
    .map(({ name, type, description }) => `| \`${name}\` | ${type} | ${description} |`);
  return ["| attribute | type | |", "|---|---|---|", ...rows].join("\n");
}
