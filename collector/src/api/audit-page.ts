import type { AuditPage } from "@agent-lifecycle/proto";
import type { ProjectionReader } from "../runtime/projection-reader.ts";
import { cursorNumber, type PagingQuery } from "./paging.ts";
import { auditViewOf } from "./stored-views.ts";

/**
 * Audit entries, oldest first. The cursor is an input id, and one input can leave many entries: a page never ends between
 * them. It ends before them, or holds them all where they alone are more than was asked for.
 */
export function auditPage(reader: ProjectionReader, query: PagingQuery, childKey?: number): AuditPage {
  const afterInputId = cursorNumber(query) ?? 0;
  const about = childKey === undefined ? {} : { childKey };
  for (let limit = query.limit; ; limit *= 2) {
    const found = reader.audit({ ...about, afterInputId, limit: limit + 1 });
    const outside = found[limit];
    if (outside === undefined) return { audit: found.map(auditViewOf), nextCursor: null };
    const whole = found.filter(({ inputId }) => inputId < outside.inputId);
    const last = whole.at(-1);
    if (last !== undefined) return { audit: whole.map(auditViewOf), nextCursor: String(last.inputId) };
  }
}
