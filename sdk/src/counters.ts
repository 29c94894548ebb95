/** Why an event was not delivered. Every drop has exactly one reason. */
export type DropReason =
  /** The buffer was full; without a JSONL fallback there is no other place. */
  | "buffer_full"
  /** The JSONL writer had more lines waiting than it holds. */
  | "jsonl_buffer_full"
  | "jsonl_write_failed"
  /** The endpoint refused the request for good (HTTP 400, 401, 404, 413 …). */
  | "export_refused"
  /** The endpoint could not be reached, or stayed busy, for as long as was allowed. */
  | "export_unavailable"
  /** The endpoint took the request and rejected this event (partial success). */
  | "rejected_by_endpoint"
  /** `shutdown` reached its deadline. */
  | "shutdown_timeout"
  /** The process ended before the event could be sent. */
  | "process_exit"
  /** Emitted when the lifecycle was already closed. */
  | "lifecycle_closed"
  | "internal_error";

/** How many events took which way. Plain numbers; reading them changes nothing. */
export class DeliveryCounters {
  emitted = 0;
  exported = 0;
  writtenToJsonl = 0;
  handedToHost = 0;
  suppressed = 0;
  readonly #dropped = new Map<DropReason, number>();

  drop(reason: DropReason, count: number): void {
    if (count > 0) this.#dropped.set(reason, (this.#dropped.get(reason) ?? 0) + count);
  }

  dropped(): Readonly<Partial<Record<DropReason, number>>> {
    return Object.fromEntries(this.#dropped);
  }
}
