/** A trace or span of the Agents SDK, as far as it matters here. */
export interface TracedItem {
  /** What the SDK itself would send to its own back end. */
  toJSON?(): unknown;
}

/** As `TracingProcessor` of `@openai/agents` has it. */
export interface OpenAiAgentsProcessor {
  start(): void;
  onTraceStart(trace: TracedItem): Promise<void>;
  onTraceEnd(trace: TracedItem): Promise<void>;
  onSpanStart(span: TracedItem): Promise<void>;
  onSpanEnd(span: TracedItem): Promise<void>;
  shutdown(): Promise<void>;
  forceFlush(): Promise<void>;
}

/**
 * A tracing processor that hands every start and end to `write`, as the records that the format `openai-agents` reads.
 * It never throws into the run that it watches. Inputs and outputs of the spans are left out.
 */
export function openAiAgentsProcessor(
  write: (record: Readonly<Record<string, unknown>>) => void,
): OpenAiAgentsProcessor {
  const pass = async (type: string, item: TracedItem): Promise<void> => {
    try {
      write({ type, data: withoutContent(item.toJSON?.() ?? item) });
    } catch {
      // What cannot be written is not worth the run.
    }
  };
  return {
    start: () => undefined,
    onTraceStart: (trace) => pass("trace.start", trace),
    onTraceEnd: (trace) => pass("trace.end", trace),
    onSpanStart: (span) => pass("span.start", span),
    onSpanEnd: (span) => pass("span.end", span),
    shutdown: async () => undefined,
    forceFlush: async () => undefined,
  };
}

const KEPT: readonly string[] = [
  "id",
  "object",
  "trace_id",
  "span_id",
  "parent_id",
  "workflow_name",
  "group_id",
  "started_at",
  "ended_at",
  "error",
];

function withoutContent(item: unknown): Record<string, unknown> {
  if (typeof item !== "object" || item === null) return {};
  const members = item as Readonly<Record<string, unknown>>;
  const kept: Record<string, unknown> = {};
  for (const name of KEPT) if (members[name] !== undefined) kept[name] = members[name];
  const span = members.span_data;
  if (typeof span === "object" && span !== null) {
    const { type, name, model } = span as Readonly<Record<string, unknown>>;
    kept.span_data = { type, name, model };
  }
  return kept;
}
