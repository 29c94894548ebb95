/** One attribute of what is exported, as the documents list it. */
export interface AttributeDefinition {
  readonly name: string;
  readonly type: "string" | "int" | "double" | "bool";
  /** One sentence. */
  readonly description: string;
  /** What carries it: projection records, spans, or both. */
  readonly on: readonly ("log" | "span")[];
}

/** `EventName` of every log record that the collector exports. */
export const PROJECTION_EVENT_NAME = "agent_lifecycle.projection";

/** Instrumentation scope of what the collector exports. */
export const EXPORT_SCOPE_NAME = "agent-lifecycle-collector";

/** Attributes of exported log records and spans. All are flat and scalar, so that every back end keeps them as they are. */
export const RECORD_ATTRIBUTES = {
  update: {
    name: "agent_lifecycle.update",
    type: "string",
    description:
      "What happened: `state`, `correction` by a snapshot, `loss`, `stale`, `unanswered`, `epoch`, `activity`, or `objection`.",
    on: ["log"],
  },
  inputId: {
    name: "agent_lifecycle.input_id",
    type: "int",
    description: "The stored input that it follows from; the API knows it by this number.",
    on: ["log"],
  },
  source: {
    name: "agent_lifecycle.source",
    type: "string",
    description: "Who observes the child.",
    on: ["log", "span"],
  },
  sourceEpoch: {
    name: "agent_lifecycle.source_epoch",
    type: "string",
    description: "The run of the source's sequence space.",
    on: ["log", "span"],
  },
  childId: {
    name: "agent_lifecycle.child_id",
    type: "string",
    description: "The child, unique within its source.",
    on: ["log", "span"],
  },
  rootChildId: {
    name: "agent_lifecycle.root_child_id",
    type: "string",
    description: "The beginning of its tree.",
    on: ["log", "span"],
  },
  parentChildId: {
    name: "agent_lifecycle.parent_child_id",
    type: "string",
    description: "Who delegated to it, where that is known.",
    on: ["log", "span"],
  },
  attempt: {
    name: "agent_lifecycle.attempt",
    type: "int",
    description: "0 for the first try, and one more for each retry.",
    on: ["log", "span"],
  },
  external: {
    name: "agent_lifecycle.external",
    type: "bool",
    description: "It was adopted: what came before is unknown.",
    on: ["log", "span"],
  },
  state: {
    name: "agent_lifecycle.state",
    type: "string",
    description:
      "Of a record, the state after it; of the span of an interval, the state that it was spent in; of the span of a child, its end.",
    on: ["log", "span"],
  },
  previousState: {
    name: "agent_lifecycle.previous_state",
    type: "string",
    description: "The state that was left.",
    on: ["log"],
  },
  previousStateSeconds: {
    name: "agent_lifecycle.previous_state_seconds",
    type: "double",
    description: "Time spent in the state that was left, by the source's clock.",
    on: ["log"],
  },
  nextState: {
    name: "agent_lifecycle.next_state",
    type: "string",
    description: "The state that ended the interval.",
    on: ["span"],
  },
  claimedState: {
    name: "agent_lifecycle.claimed_state",
    type: "string",
    description: "The state that refused evidence claims. It is not the child's.",
    on: ["log"],
  },
  evidence: {
    name: "agent_lifecycle.evidence",
    type: "string",
    description: "What a state rests on: `event`, `authoritative_snapshot`, or `failed_reconciliation`.",
    on: ["log", "span"],
  },
  provisional: {
    name: "agent_lifecycle.provisional",
    type: "bool",
    description: "Something is missing that would come before.",
    on: ["log", "span"],
  },
  status: {
    name: "agent_lifecycle.status",
    type: "string",
    description: "What became of the input, as in the contract: `applied`, `provisional`, `conflict` and so on.",
    on: ["log"],
  },
  diagnostic: {
    name: "agent_lifecycle.diagnostic",
    type: "string",
    description: "The code of its objection.",
    on: ["log"],
  },
  staleReason: {
    name: "agent_lifecycle.stale_reason",
    type: "string",
    description: "Why the child is stale.",
    on: ["log"],
  },
  observedAt: {
    name: "agent_lifecycle.observed_at",
    type: "string",
    description: "When the source saw it, in RFC 3339. The record's own time is when the collector got it.",
    on: ["log"],
  },
  sequence: {
    name: "agent_lifecycle.sequence",
    type: "int",
    description: "The event's place in its stream.",
    on: ["log"],
  },
  eventId: { name: "agent_lifecycle.event_id", type: "string", description: "The event that said so.", on: ["log"] },
  eventKind: {
    name: "agent_lifecycle.event_kind",
    type: "string",
    description: "The kind of that event.",
    on: ["log"],
  },
  snapshotId: {
    name: "agent_lifecycle.snapshot_id",
    type: "string",
    description: "The snapshot that said so.",
    on: ["log"],
  },
  previousEpoch: {
    name: "agent_lifecycle.previous_epoch",
    type: "string",
    description: "The epoch that was left.",
    on: ["log"],
  },
  activity: {
    name: "agent_lifecycle.activity",
    type: "string",
    description: "What the child said it does.",
    on: ["log"],
  },
  waitingOn: {
    name: "agent_lifecycle.waiting_on",
    type: "string",
    description: "What a waiting child waits for.",
    on: ["log"],
  },
  span: {
    name: "agent_lifecycle.span",
    type: "string",
    description: "`interval` for a time in one state, `child` for a whole life.",
    on: ["span"],
  },
  link: {
    name: "agent_lifecycle.link",
    type: "string",
    description: "On a link: `first_attempt`, or `previous_epoch`.",
    on: ["span"],
  },
  uid: {
    name: "log.record.uid",
    type: "string",
    description: "The same whenever the record is sent again.",
    on: ["log"],
  },
  eventName: {
    name: "event_name",
    type: "string",
    description: "`EventName` again, for back ends that drop the field.",
    on: ["log"],
  },
  agentName: { name: "gen_ai.agent.name", type: "string", description: "`details.name`.", on: ["log", "span"] },
  toolName: { name: "gen_ai.tool.name", type: "string", description: "`details.tool`.", on: ["log"] },
  errorType: {
    name: "error.type",
    type: "string",
    description: "The cause of a failed or lost child, where it is known.",
    on: ["log", "span"],
  },
  exitCode: { name: "process.exit.code", type: "int", description: "`details.exitCode`.", on: ["log"] },
} as const;

/** Names of spans. Closed sets: the state is one of eight. */
export const SPAN_NAMES = {
  /** `agent running`, with the state that the time was spent in. */
  interval: "agent",
  child: "agent lifecycle",
} as const;
