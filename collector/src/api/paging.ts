/** Entries of one page. */
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;

/** Query parameters of every listing, as JSON Schema. A cursor is what the page before said; it means nothing else. */
export const PAGING_PARAMETERS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  limit: { type: "integer", minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
  cursor: { type: "string", pattern: "^[0-9]{1,15}$", description: "What the page before said as nextCursor." },
};

export interface PagingQuery {
  readonly limit: number;
  readonly cursor?: string;
}

/** Longest identifier in a query or path, in characters (contract section 2). */
export const IDENTIFIER_PARAMETER: Readonly<Record<string, unknown>> = {
  type: "string",
  minLength: 1,
  maxLength: 256,
};

export function cursorNumber(query: PagingQuery): number | undefined {
  return query.cursor === undefined ? undefined : Number(query.cursor);
}

/**
 * Cuts a page out of one entry more than it may hold, and says where the next one begins.
 * @param found up to `limit + 1` entries
 */
export function cutPage<Entry>(
  found: readonly Entry[],
  limit: number,
  cursorOf: (last: Entry) => number,
): { readonly entries: readonly Entry[]; readonly nextCursor: string | null } {
  if (found.length <= limit) return { entries: found, nextCursor: null };
  const entries = found.slice(0, limit);
  const last = entries.at(-1);
  return { entries, nextCursor: last === undefined ? null : String(cursorOf(last)) };
}
