/** A part of `Whole`: what is not stated, or `undefined`, is left to the defaults. Lists and maps are stated as a whole. */
export type Stated<Whole> = Whole extends readonly unknown[] | ReadonlyMap<string, unknown>
  ? Whole
  : Whole extends object
    ? { readonly [Name in keyof Whole]?: Stated<Whole[Name]> | undefined }
    : Whole;

/** Lays what is stated over what is there, member by member. */
export function overlay<Whole>(whole: Whole, stated: Stated<NoInfer<Whole>> | undefined): Whole;
export function overlay(whole: unknown, stated: unknown): unknown {
  if (stated === undefined) return whole;
  if (!isPlain(whole) || !isPlain(stated)) return stated;
  const merged = new Map<string, unknown>(Object.entries(whole));
  for (const [name, value] of Object.entries(stated)) merged.set(name, overlay(merged.get(name), value));
  // Unlike an assignment, this makes a member of any name.
  return Object.fromEntries(merged);
}

/** Whether this is a tree's inner node: an object that is neither a list nor a map. */
export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Map);
}
