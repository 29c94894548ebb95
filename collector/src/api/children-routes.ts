import type { AuditPage, ChildrenPage, ChildView, InputsPage } from "@agent-lifecycle/proto";
import type { FastifyInstance } from "fastify";
import { type ChildRecord, viewOf } from "../core/index.ts";
import { HttpRefusal } from "../http/http-refusal.ts";
import type { ProjectionReader } from "../runtime/projection-reader.ts";
import { auditPage } from "./audit-page.ts";
import { type ChildrenFilter, childrenQuerySchema, findChildren } from "./children-filter.ts";
import { cursorNumber, cutPage, IDENTIFIER_PARAMETER, PAGING_PARAMETERS, type PagingQuery } from "./paging.ts";
import { operation } from "./schemas/operation.ts";
import { inputViewOf } from "./stored-views.ts";

const CHILD_PARAMS = {
  type: "object",
  required: ["source", "childId"],
  properties: { source: IDENTIFIER_PARAMETER, childId: IDENTIFIER_PARAMETER },
};

const PAGE_QUERY = { type: "object", additionalProperties: false, properties: PAGING_PARAMETERS };

const LIST = operation({
  operationId: "listChildren",
  summary: "Children that have a state, newest first",
  answer: "ChildrenPage",
  querystring: childrenQuerySchema(),
});

const READ = operation({
  operationId: "getChild",
  summary: "One child, as the projection knows it",
  answer: "Child",
  params: CHILD_PARAMS,
});

const EVENTS = operation({
  operationId: "listChildEvents",
  summary: "What was stored about a child, each with what became of it, oldest first",
  answer: "InputsPage",
  params: CHILD_PARAMS,
  querystring: PAGE_QUERY,
});

const AUDIT = operation({
  operationId: "listChildAudit",
  summary: "What was corrected about a child, oldest first",
  answer: "AuditPage",
  params: CHILD_PARAMS,
  querystring: PAGE_QUERY,
});

interface ChildRoute {
  readonly Params: { readonly source: string; readonly childId: string };
}

interface ChildPageRoute extends ChildRoute {
  readonly Querystring: PagingQuery;
}

/** `/api/v1/children`: rows, and everything about one child. */
export async function registerChildrenRoutes(scope: FastifyInstance, reader: ProjectionReader): Promise<void> {
  scope.get<{ Querystring: ChildrenFilter }>("/children", { schema: LIST }, (request) =>
    childrenPage(reader, request.query),
  );
  scope.get<ChildRoute>(
    "/children/:source/:childId",
    { schema: READ },
    (request): ChildView => viewOf(childOf(reader, request.params)),
  );
  scope.get<ChildPageRoute>("/children/:source/:childId/events", { schema: EVENTS }, (request): InputsPage => {
    const { key } = childOf(reader, request.params);
    const { limit } = request.query;
    const found = reader.inputsOfChild(key, cursorNumber(request.query) ?? 0, limit + 1);
    const { entries, nextCursor } = cutPage(found, limit, ({ inputId }) => inputId);
    return { inputs: entries.map(inputViewOf), nextCursor };
  });
  scope.get<ChildPageRoute>("/children/:source/:childId/audit", { schema: AUDIT }, (request): AuditPage => {
    const { key: childKey } = childOf(reader, request.params);
    return auditPage(reader, request.query, childKey);
  });
}

function childrenPage(reader: ProjectionReader, filter: ChildrenFilter): ChildrenPage {
  const position = reader.listingPosition();
  const { entries, nextCursor } = cutPage(findChildren(reader, filter), filter.limit, ({ key }) => key);
  return { children: entries.map(viewOf), position, nextCursor };
}

function childOf(reader: ProjectionReader, { source, childId }: ChildRoute["Params"]): ChildRecord {
  const record = reader.child(source, childId);
  if (record === undefined) throw new HttpRefusal("not_found", "no evidence of such a child");
  return record;
}
