export type {
  Adapter,
  AdapterDiagnostic,
  AdapterDiagnosticCode,
  AdapterResult,
  StreamEnd,
} from "./adapters/adapter.ts";
export type { AdapterInput } from "./adapters/adapter-input.ts";
export {
  type AdapterState,
  emptyAdapterState,
  type Notes,
  parseAdapterState,
  type Quarantine,
  serializeAdapterState,
  type TrackedChild,
} from "./adapters/adapter-state.ts";
export { ADAPTERS, adapterFor } from "./adapters/formats.ts";
export {
  type OpenAiAgentsProcessor,
  openAiAgentsProcessor,
  type TracedItem,
} from "./adapters/openai-agents-processor.ts";
export { createServerSentEventReader, type ServerSentEventReader } from "./adapters/server-sent-events.ts";
export { type EventDelivery, type EventDeliveryCounters, openEventDelivery } from "./event-delivery.ts";
