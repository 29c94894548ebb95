// The client of a collector's API, for browsers and Node.js, with what a display needs to draw what it reads.
export type {
  AuditPage,
  AuditView,
  Capabilities,
  ChildrenPage,
  ChildView,
  DiagnosticsPage,
  DiagnosticView,
  InputsPage,
  InputView,
  Lineage,
  SourcesView,
  SourceView,
  State,
  SummaryView,
} from "@agent-lifecycle/proto";
export { ApiError, type Problem } from "./client/api-error.ts";
export { createEventParser, type ServerSentEvent } from "./client/event-parser.ts";
export { type Connection, type Follower, type FollowOptions, follow } from "./client/follow.ts";
export {
  type ChangeBatch,
  type ChildName,
  type ChildrenQuery,
  type ClientOptions,
  LifecycleClient,
  type PageQuery,
} from "./client/lifecycle-client.ts";
export { childKey, hasEnded } from "./display/child-key.ts";
export { type AgentNode, lineageTrees } from "./display/lineage-tree.ts";
export {
  type ActivityTick,
  type KnownThen,
  knownAt,
  type StaleInterval,
  type StateInterval,
  type TimelineEntry,
  type TimelineMark,
  type TimelinePage,
} from "./display/timeline-view.ts";
export type { AgentView, TreeView } from "./display/tree-view.ts";
export type { UsageRollup } from "./display/usage-rollup.ts";
