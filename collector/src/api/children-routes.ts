import type { AuditPage, ChildrenPage, ChildView, InputsPage, State } from "@agent-lifecycle/proto";
import { STATES } from "@agent-lifecycle/proto";
import type { FastifyInstance } from "fastify";
import { type ChildRecord, viewOf } from "../core/index.ts";
import { HttpRefusal } from "../http/http-refusal.ts";
import type { ProjectionReader } from "../runtime/projection-reader.ts";
import { auditPage } from "./audit-page.ts";
import { cursorNumber, cutPage, IDENTIFIER_PARAMETER, PAGING_PARAMETERS, type PagingQuery } from "./paging.ts";
import { inputViewOf } from "./stored-views.ts";

interface ChildrenFilter extends PagingQuery {
  /** States, separated by commas. */
  readonly state?: string;
  readonly source?: string;
  /** Root child id. */
  readonly root?: string;
  readonly stale?: boolean;
  readonly provisional?: boolean;
  readonly text?: string;
}

const ONE_STATE = `(${STATES.join("|")})`;

const CHILDREN_QUERY = {
  type: "object",
  additionalProperties: false,
  properties: {
    ...PAGING_PARAMETERS,
    state: { type: "string", pattern: `^${ONE_STATE}(,${ONE_STATE}){0,7}$` },
    source: IDENTIFIER_PARAMETER,
    root: IDENTIFIER_PARAMETER,
    stale: { type: "boolean" },
    provisional: { type: "boolean" },
    text: { type: "string", minLength: 1, maxLength: 200 },
  },
};

const PAGE_QUERY = { type: "object", additionalProperties: false, properties: PAGING_PARAMETERS };

interface ChildRoute {
  readonly Params: { readonly source: string; readonly childId: string };
}

interface ChildPageRoute extends ChildRoute {
  readonly Querystring: PagingQuery;
}

/** `/api/v1/children`: rows, and everything about one child. */
export async function registerChildrenRoutes(scope: FastifyInstance, reader: ProjectionReader): Promise<void> {
  scope.get<{ Querystring: ChildrenFilter }>("/children", { schema: { querystring: CHILDREN_QUERY } }, (request) =>
    childrenPage(reader, request.query),
  );
  scope.get<ChildRoute>("/children/:source/:childId", (request): ChildView => viewOf(childOf(reader, request.params)));
  scope.get<ChildPageRoute>(
    "/children/:source/:childId/events",
    { schema: { querystring: PAGE_QUERY } },
    (request): InputsPage => {
      const { key } = childOf(reader, request.params);
      const { limit } = request.query;
      const found = reader.inputsOfChild(key, cursorNumber(request.query) ?? 0, limit + 1);
      const { entries, nextCursor } = cutPage(found, limit, ({ inputId }) => inputId);
      return { inputs: entries.map(inputViewOf), nextCursor };
    },
  );
  scope.get<ChildPageRoute>(
    "/children/:source/:childId/audit",
    { schema: { querystring: PAGE_QUERY } },
    (request): AuditPage => {
      const { key: childKey } = childOf(reader, request.params);
      return auditPage(reader, request.query, childKey);
    },
  );
}

function childrenPage(reader: ProjectionReader, filter: ChildrenFilter): ChildrenPage {
  const { limit, state, source, root, stale, provisional, text } = filter;
  const beforeKey = cursorNumber(filter);
  const position = reader.listingPosition();
  const found = reader.children({
    limit: limit + 1,
    ...(state === undefined ? undefined : { states: state.split(",") as State[] }),
    ...(source === undefined ? undefined : { source }),
    ...(root === undefined ? undefined : { rootChildId: root }),
    ...(stale === undefined ? undefined : { stale }),
    ...(provisional === undefined ? undefined : { provisional }),
    ...(text === undefined ? undefined : { text }),
    ...(beforeKey === undefined ? undefined : { beforeKey }),
  });
  const { entries, nextCursor } = cutPage(found, limit, ({ key }) => key);
  return { children: entries.map(viewOf), position, nextCursor };
}

function childOf(reader: ProjectionReader, { source, childId }: ChildRoute["Params"]): ChildRecord {
  const record = reader.child(source, childId);
  if (record === undefined) throw new HttpRefusal("not_found", "no evidence of such a child");
  return record;
}
