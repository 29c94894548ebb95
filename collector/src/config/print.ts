import { REDACTED, redactText } from "@agent-lifecycle/proto";
import type { CollectorConfiguration, Endpoint } from "./configuration.ts";
import { isPlain } from "./overlay.ts";
import type { ConfigurationPath } from "./problem.ts";
import { formatDuration, formatEndpoint, formatSize } from "./quantities.ts";
import {
  type ConfigurationSchema,
  definitionOf,
  memberName,
  memberSchema,
  type SchemaNode,
  type SpelledKind,
} from "./schema.ts";

/**
 * The whole configuration as a file would say it, every default included, without secrets: tokens, and of a module's
 * options whatever `isSecret` names or looks like one, are `[redacted]`. What is off or not set is left out.
 */
export function printableConfiguration(
  configuration: CollectorConfiguration,
  schema: ConfigurationSchema,
  isSecret: (path: ConfigurationPath) => boolean = () => false,
): unknown {
  return printable(configuration, schema, []);

  function printable(value: unknown, node: SchemaNode, path: ConfigurationPath): unknown {
    const { definition, kind } = definitionOf(schema, node);
    if (kind !== undefined) return spelled(value, kind, path);
    if (Array.isArray(value))
      return value.map((item, index) => printable(item, definition.items ?? {}, [...path, index]));
    if (value instanceof Map) return named(value.entries(), definition, path);
    if (!isPlain(value)) return value;
    if (definition.patternProperties !== undefined) return named(Object.entries(value), definition, path);
    return Object.fromEntries(
      Object.entries(definition.properties ?? {}).flatMap(([name, member]) => {
        const held = value[memberName(name, definitionOf(schema, member).kind)];
        return held === undefined || held === null ? [] : [[name, printable(held, member, [...path, name])]];
      }),
    );
  }

  function named(
    entries: Iterable<readonly [string, unknown]>,
    definition: SchemaNode,
    path: ConfigurationPath,
  ): unknown {
    const printed = [...entries].map(([name, member]) => {
      const known = memberSchema(definition, name)?.node ?? {};
      return [name, printable(member, known, [...path, name])] as const;
    });
    return Object.fromEntries(printed);
  }

  function spelled(value: unknown, kind: SpelledKind, path: ConfigurationPath): unknown {
    switch (kind) {
      case "duration":
        return formatDuration(Number(value));
      case "size":
        return formatSize(Number(value));
      case "memory":
        return typeof value === "number" ? formatSize(value) : value;
      case "endpoint":
        return formatEndpoint(value as Endpoint);
      case "path":
        return value;
      case "secret":
        return REDACTED;
      case "options":
        return redactedOptions(value, path);
    }
  }

  function redactedOptions(value: unknown, path: ConfigurationPath): unknown {
    if (isSecret(path)) return REDACTED;
    if (Array.isArray(value)) return value.map((item, index) => redactedOptions(item, [...path, index]));
    if (isPlain(value)) {
      const members = Object.entries(value).map(
        ([name, member]) => [name, redactedOptions(member, [...path, name])] as const,
      );
      return Object.fromEntries(members);
    }
    const assignment = `${String(path.at(-1))}: ${String(value)}`;
    return redactText(assignment) === assignment ? value : REDACTED;
  }
}
