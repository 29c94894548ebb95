import type { AuditPage } from "@agent-lifecycle/proto";
import type { ProjectionReader } from "../runtime/projection-reader.ts";
import { cursorNumber, type PagingQuery } from "./paging.ts";
import { auditViewOf } from "./stored-views.ts";

type StoredAudit = ReturnType<ProjectionReader["audit"]>[number];

/**
 * Audit entries, oldest first. The cursor is an input id, and one input can leave many entries: a page never ends between
 * them. It ends before them, or holds them all where they alone are more than was asked for.
 */
export function auditPage(reader: ProjectionReader, query: PagingQuery, childKey?: number): AuditPage {
  const afterInputId = cursorNumber(query) ?? 0;
  const about = childKey === undefined ? {} : { childKey };
  const read = (limit: number): readonly StoredAudit[] => reader.audit({ ...about, afterInputId, limit });
  const found = read(query.limit + 1);
  const outside = found[query.limit];
  if (outside === undefined) return pageOf(found, null);
  const whole = found.filter(({ inputId }) => inputId < outside.inputId);
  const last = whole.at(-1);
  return last === undefined ? oneInputPage(read, query.limit, outside.inputId) : pageOf(whole, last.inputId);
}

function oneInputPage(read: (limit: number) => readonly StoredAudit[], limit: number, inputId: number): AuditPage {
  for (let wider = limit * 2; ; wider *= 2) {
    const found = read(wider);
    const ofInput = found.filter((entry) => entry.inputId === inputId);
    if (ofInput.length < found.length) return pageOf(ofInput, inputId);
    if (found.length < wider) return pageOf(found, null);
  }
}

function pageOf(entries: readonly StoredAudit[], lastInputId: number | null): AuditPage {
  return { audit: entries.map(auditViewOf), nextCursor: lastInputId === null ? null : String(lastInputId) };
}
