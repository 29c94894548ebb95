/** A JSON Schema, draft 2020-12, as far as these are needed. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export const TEXT: JsonSchema = { type: "string" };
export const COUNT: JsonSchema = { type: "integer", minimum: 0 };
export const FLAG: JsonSchema = { type: "boolean" };
export const AMOUNT: JsonSchema = { type: "number", minimum: 0 };
/** RFC 3339, UTC, milliseconds. */
export const TIME: JsonSchema = { type: "string", format: "date-time" };

export function oneOf(values: readonly (string | null)[]): JsonSchema {
  return { enum: values };
}

export function nullable(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: "null" }] };
}

export function listOf(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}

/** One of the named schemas below. */
export function named(name: string): JsonSchema {
  return { $ref: `${name}#` };
}

/** An object with all of these members and no other. */
export function objectOf(members: Readonly<Record<string, JsonSchema>>, description?: string): JsonSchema {
  return partlyOf(members, Object.keys(members), description);
}

/** An object with members that may be absent. */
export function partlyOf(
  members: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
  description?: string,
): JsonSchema {
  return {
    type: "object",
    ...(description === undefined ? undefined : { description }),
    additionalProperties: false,
    required,
    properties: members,
  };
}

export function described(schema: JsonSchema, description: string): JsonSchema {
  return "$ref" in schema ? { allOf: [schema], description } : { ...schema, description };
}
