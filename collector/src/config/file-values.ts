import { isPlain } from "./overlay.ts";
import { parseDuration, parseEndpoint, parseSize } from "./quantities.ts";
import type { StatedConfiguration } from "./resolve.ts";
import {
  type ConfigurationSchema,
  definitionOf,
  memberName,
  memberSchema,
  type SchemaNode,
  type SpelledKind,
} from "./schema.ts";

/**
 * Turns a file's values, which must fit the schema, into what they state: names in camelCase with their units, durations
 * in milliseconds, sizes in bytes, paths by `resolvePath`.
 */
export function statedByFile(
  value: unknown,
  schema: ConfigurationSchema,
  resolvePath: (path: string) => string,
): StatedConfiguration {
  const stated = convert(value ?? {}, schema);
  return withoutUnstatedProtocols(stated as StatedConfiguration);

  function convert(given: unknown, node: SchemaNode): unknown {
    const { definition, kind } = definitionOf(schema, node);
    if (kind !== undefined) return spelled(given, kind);
    if (Array.isArray(given) && definition.items !== undefined) {
      const { items } = definition;
      return given.map((item) => convert(item, items));
    }
    // A member that is there with nothing after it has its defaults.
    if (given === null) return nothingOf(definition);
    return isPlain(given) ? members(given, definition) : given;
  }

  function members(given: Readonly<Record<string, unknown>>, definition: SchemaNode): unknown {
    const converted = Object.entries(given).map(([name, member]): readonly [string, unknown] => {
      const known = memberSchema(definition, name);
      // Nobody knows what it is: it is reported by its name.
      if (known === undefined) return [name, {}];
      const { kind } = definitionOf(schema, known.node);
      return [known.isNamed ? name : memberName(name, kind), convert(member, known.node)];
    });
    return typeof definition.additionalProperties === "object" ? new Map(converted) : Object.fromEntries(converted);
  }

  function spelled(given: unknown, kind: SpelledKind): unknown {
    if (kind === "options") return given ?? {};
    if (typeof given !== "string") return given;
    switch (kind) {
      case "duration":
        return parseDuration(given);
      case "size":
        return parseSize(given);
      case "memory":
        return given.endsWith("%") ? given : parseSize(given);
      case "endpoint":
        return parseEndpoint(given);
      case "path":
        return resolvePath(given);
      case "secret":
        return given;
    }
  }
}

/** As in an OpenTelemetry Collector: a protocol that is there with nothing after it is on, one that is not there is off. */
function withoutUnstatedProtocols(stated: StatedConfiguration): StatedConfiguration {
  const protocols = stated.receivers?.otlp?.protocols;
  if (protocols === undefined) return stated;
  return {
    ...stated,
    receivers: { ...stated.receivers, otlp: { protocols: { http: null, grpc: null, ...protocols } } },
  };
}

/** What a member comes to that is there with nothing after it: a list is left to the defaults, a map and a tree are empty. */
function nothingOf({ items, additionalProperties }: SchemaNode): unknown {
  if (items !== undefined) return undefined;
  return typeof additionalProperties === "object" ? new Map() : {};
}
