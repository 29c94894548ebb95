import {
  type AuditPage,
  DIAGNOSTIC_CODES,
  type DiagnosticsPage,
  type SourcesView,
  type SummaryView,
} from "@agent-lifecycle/proto";
import type { FastifyInstance } from "fastify";
import type { Authority } from "../runtime/authority.ts";
import type { ObservedSource } from "../runtime/observed-source.ts";
import type { ProjectionReader } from "../runtime/projection-reader.ts";
import { auditPage } from "./audit-page.ts";
import { cursorNumber, cutPage, PAGING_PARAMETERS, type PagingQuery } from "./paging.ts";
import { sourcesView } from "./sources-view.ts";
import { diagnosticViewOf } from "./stored-views.ts";

const AUDIT_QUERY = { type: "object", additionalProperties: false, properties: PAGING_PARAMETERS };

interface DiagnosticsQuery extends PagingQuery {
  readonly code?: string;
}

const DIAGNOSTICS_QUERY = {
  type: "object",
  additionalProperties: false,
  properties: { ...PAGING_PARAMETERS, code: { enum: DIAGNOSTIC_CODES } },
};

/** Counts, sources, and what the collector objected to or corrected. */
export async function registerEvidenceRoutes(
  scope: FastifyInstance,
  reader: ProjectionReader,
  summaryView: () => SummaryView,
  authorities: () => readonly Authority[],
  observed: readonly ObservedSource[],
): Promise<void> {
  scope.get("/summary", (): SummaryView => summaryView());
  scope.get("/sources", (): SourcesView => sourcesView(reader, authorities(), observed));
  scope.get<{ Querystring: PagingQuery }>(
    "/audit",
    { schema: { querystring: AUDIT_QUERY } },
    (request): AuditPage => auditPage(reader, request.query),
  );
  scope.get<{ Querystring: DiagnosticsQuery }>(
    "/diagnostics",
    { schema: { querystring: DIAGNOSTICS_QUERY } },
    (request): DiagnosticsPage => diagnosticsPage(reader, request.query),
  );
}

function diagnosticsPage(reader: ProjectionReader, query: DiagnosticsQuery): DiagnosticsPage {
  const beforeId = cursorNumber(query);
  const found = reader.diagnostics({
    limit: query.limit + 1,
    ...(beforeId === undefined ? undefined : { beforeId }),
    ...(query.code === undefined ? undefined : { code: query.code }),
  });
  const { entries, nextCursor } = cutPage(found, query.limit, ({ id }) => id);
  return { diagnostics: entries.map(diagnosticViewOf), nextCursor };
}
