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
import { operation } from "./schemas/operation.ts";
import { type DeclaredVisibility, sourcesView } from "./sources-view.ts";
import { diagnosticViewOf } from "./stored-views.ts";

const SUMMARY = operation({
  operationId: "getSummary",
  summary: "Counts of all children, which always add up",
  answer: "Summary",
});

const SOURCES = operation({
  operationId: "listSources",
  summary: "The sources that children are known of, and who answers for them",
  answer: "Sources",
});

const AUDIT = operation({
  operationId: "listAudit",
  summary: "What was corrected, of all children, oldest first",
  answer: "AuditPage",
  querystring: { type: "object", additionalProperties: false, properties: PAGING_PARAMETERS },
});

interface DiagnosticsQuery extends PagingQuery {
  readonly code?: string;
}

const DIAGNOSTICS = operation({
  operationId: "listDiagnostics",
  summary: "What was rejected or tolerated, and why, newest first",
  answer: "DiagnosticsPage",
  querystring: {
    type: "object",
    additionalProperties: false,
    properties: { ...PAGING_PARAMETERS, code: { type: "string", enum: DIAGNOSTIC_CODES } },
  },
});

/** Counts, sources, and what the collector objected to or corrected. */
export async function registerEvidenceRoutes(
  scope: FastifyInstance,
  reader: ProjectionReader,
  summaryView: () => SummaryView,
  authorities: () => readonly Authority[],
  observed: readonly ObservedSource[],
  visibility: DeclaredVisibility | undefined,
): Promise<void> {
  scope.get("/summary", { schema: SUMMARY }, (): SummaryView => summaryView());
  scope.get(
    "/sources",
    { schema: SOURCES },
    (): SourcesView => sourcesView(reader, authorities(), observed, visibility),
  );
  scope.get<{ Querystring: PagingQuery }>(
    "/audit",
    { schema: AUDIT },
    (request): AuditPage => auditPage(reader, request.query),
  );
  scope.get<{ Querystring: DiagnosticsQuery }>(
    "/diagnostics",
    { schema: DIAGNOSTICS },
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
