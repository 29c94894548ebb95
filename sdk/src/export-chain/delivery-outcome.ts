import type { ReadableLogRecord } from "@opentelemetry/sdk-logs";

/** What became of one attempt to send a batch. Whether it is worth another try is decided here, where it was seen. */
export type DeliveryOutcome =
  /** The endpoint has it. `rejected` events of it were refused one by one (partial success). */
  | { readonly status: "delivered"; readonly rejected: number; readonly message?: string }
  /** Final: the same request will not be taken later either. `isTooLarge`: parts of it may be. */
  | { readonly status: "refused"; readonly problem: string; readonly isTooLarge?: boolean }
  /** The endpoint answered that it cannot take it now. */
  | { readonly status: "busy"; readonly problem: string; readonly retryAfterMs?: number }
  /** Nobody answered. */
  | { readonly status: "unreachable"; readonly problem: string };

/** Sends batches. `send` never rejects; an aborted one settles at once, with any outcome. */
export interface BatchTransport {
  send(records: readonly ReadableLogRecord[], signal: AbortSignal): Promise<DeliveryOutcome>;
  close(): Promise<void>;
}
