/** The input is no OTLP/JSON of the expected shape. Thrown and caught inside this package only. */
export class OtlpJsonError extends Error {}

/**
 * A member by its lowerCamelCase name, or leniently by its snake_case original (H17). `null` is absent (H20). Only own
 * members count.
 */
export function memberOf(holder: Readonly<Record<string, unknown>>, name: string, snakeName: string): unknown {
  if (Object.hasOwn(holder, name) && holder[name] !== null) return holder[name];
  return Object.hasOwn(holder, snakeName) ? (holder[snakeName] ?? undefined) : undefined;
}
