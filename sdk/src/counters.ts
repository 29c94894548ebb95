import { cutText, redactText } from "@agent-lifecycle/proto";

/** Why an event was not delivered. Every drop has exactly one reason. */
export type DropReason =
  /** The buffer was full; without a JSONL fallback there is no other place. */
  | "buffer_full"
  /** The JSONL writer had more lines waiting than it holds. */
  | "jsonl_buffer_full"
  | "jsonl_write_failed"
  /** The endpoint refused the request for good (HTTP 400, 401, 404 …; 413 to every part of it). */
  | "export_refused"
  /** The endpoint could not be reached, or stayed busy, for as long as was allowed. */
  | "export_unavailable"
  /** The endpoint took the request and rejected this event (partial success). */
  | "rejected_by_endpoint"
  /** The spool holds as much as it may. */
  | "spool_full"
  | "spool_write_failed"
  /** What was written to the spool could not be read back. */
  | "spool_damaged"
  /** `shutdown` reached its deadline. */
  | "shutdown_timeout"
  /** The process ended before the event could be sent. */
  | "process_exit"
  /** Emitted when the lifecycle was already closed. */
  | "lifecycle_closed"
  | "internal_error";

/** What an endpoint said about events that it rejected one by one, and of how many. */
export interface Rejection {
  /** Redacted, at most 200 characters; empty when no reason was given. */
  readonly message: string;
  readonly count: number;
}

/** Different reasons kept; further ones are counted under the last. */
const MAX_REJECTION_MESSAGES = 16;
const MAX_REJECTION_LENGTH = 200;
const OTHER_REASONS = "other reasons";

/** How many events took which way. Plain numbers; reading them changes nothing. */
export class DeliveryCounters {
  emitted = 0;
  exported = 0;
  writtenToJsonl = 0;
  handedToHost = 0;
  suppressed = 0;
  /** Of the exported ones, those that had gone to the spool. */
  replayed = 0;
  /** Events of processes before this one that were delivered from their spools. */
  adopted = 0;
  adoptedRefused = 0;
  readonly #rejections = new Map<string, number>();
  readonly #dropped = new Map<DropReason, number>();

  drop(reason: DropReason, count: number): void {
    if (count > 0) this.#dropped.set(reason, (this.#dropped.get(reason) ?? 0) + count);
  }

  reject(count: number, message: string): void {
    this.drop("rejected_by_endpoint", count);
    if (count <= 0) return;
    const bounded = cutText(redactText(cutText(message, 2_048)), MAX_REJECTION_LENGTH);
    const hasRoom = this.#rejections.has(bounded) || this.#rejections.size < MAX_REJECTION_MESSAGES;
    const name = hasRoom ? bounded : OTHER_REASONS;
    this.#rejections.set(name, (this.#rejections.get(name) ?? 0) + count);
  }

  rejections(): readonly Rejection[] {
    return [...this.#rejections].map(([message, count]) => ({ message, count }));
  }

  dropped(): Readonly<Partial<Record<DropReason, number>>> {
    return Object.fromEntries(this.#dropped);
  }
}
