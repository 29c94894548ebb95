import { type ChildView, STATES, type State } from "@agent-lifecycle/proto";
import type { FastifyInstance } from "fastify";
import { viewOf } from "../core/index.ts";
import { hasEnded } from "../display/child-key.ts";
import { flattenTrees, lineageTrees } from "../display/lineage-tree.ts";
import type { TimelinePage } from "../display/timeline-view.ts";
import type { TreeView } from "../display/tree-view.ts";
import { addUsage, NO_USAGE, usageOf } from "../display/usage-rollup.ts";
import { HttpRefusal } from "../http/http-refusal.ts";
import type { ProjectionReader } from "../runtime/projection-reader.ts";
import { childTimeline } from "./child-timeline.ts";
import { type ChildrenFilter, childrenQuerySchema, findChildren } from "./children-filter.ts";
import { cutPage, IDENTIFIER_PARAMETER, PAGING_PARAMETERS } from "./paging.ts";
import { operation } from "./schemas/operation.ts";

/** Members of a tree that are listed. */
const MAX_MEMBERS = 5_000;
/** Children of one page of the timeline: each is drawn from all that is stored about it. */
const MAX_TIMELINES = 100;

const TREE = operation({
  operationId: "getTree",
  summary: "Everything that goes back to one root: attempts under one agent, live descendants, usage",
  description: "A tree is live until its last member ends; the end of a parent ends no child (P18).",
  answer: "Tree",
  params: { type: "object", required: ["rootChildId"], properties: { rootChildId: IDENTIFIER_PARAMETER } },
  querystring: {
    type: "object",
    additionalProperties: false,
    properties: { source: { ...IDENTIFIER_PARAMETER, description: "Only members of this source." } },
  },
});

const TIMELINE = operation({
  operationId: "listTimeline",
  summary: "State intervals, activities, gaps and corrections of children, the newest child first",
  description: "`recordedAt` tells what was known at an earlier time; `from` and `at` tell when it was so.",
  answer: "TimelinePage",
  querystring: childrenQuerySchema({
    ...PAGING_PARAMETERS,
    limit: { type: "integer", minimum: 1, maximum: MAX_TIMELINES, default: 50 },
  }),
});

interface TreeRoute {
  readonly Params: { readonly rootChildId: string };
  readonly Querystring: { readonly source?: string };
}

/** `/api/v1/tree` and `/api/v1/timeline`: children among the others, and over time. */
export async function registerLineageRoutes(scope: FastifyInstance, reader: ProjectionReader): Promise<void> {
  scope.get<TreeRoute>("/tree/:rootChildId", { schema: TREE }, ({ params, query }) =>
    treeView(reader, params.rootChildId, query.source),
  );
  scope.get<{ Querystring: ChildrenFilter }>("/timeline", { schema: TIMELINE }, ({ query }): TimelinePage => {
    const position = reader.listingPosition();
    const { entries, nextCursor } = cutPage(findChildren(reader, query), query.limit, ({ key }) => key);
    return { timeline: entries.map((record) => childTimeline(reader, record)), position, nextCursor };
  });
}

function treeView(reader: ProjectionReader, rootChildId: string, source: string | undefined): TreeView {
  const position = reader.listingPosition();
  const bySource = source === undefined ? {} : { source };
  const records = reader.children({ rootChildId, ...bySource, limit: MAX_MEMBERS + 1 });
  if (records.length === 0) throw new HttpRefusal("not_found", "no evidence of children of such a root");
  const members = records.slice(0, MAX_MEMBERS).map(viewOf);
  const agents = flattenTrees(lineageTrees(members)).map(({ node, depth }) => {
    const { children: _listedAfterIt, ...agent } = node;
    return { depth, ...agent };
  });
  return {
    rootChildId,
    position,
    members: members.length,
    live: members.filter((child) => !hasEnded(child)).length,
    byState: countStates(members),
    usage: members.map(usageOf).reduce(addUsage, NO_USAGE),
    agents,
    isCut: records.length > MAX_MEMBERS,
  };
}

function countStates(members: readonly ChildView[]): Readonly<Record<State, number>> {
  const counts = Object.fromEntries(STATES.map((state) => [state, 0])) as Record<State, number>;
  for (const { state } of members) if (state !== null) counts[state] += 1;
  return counts;
}
