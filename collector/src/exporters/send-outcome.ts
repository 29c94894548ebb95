/**
 * What a destination says to one request.
 * - `taken`: it has the request; `rejected` of its records it has not, and will not have.
 * - `later`: nothing is wrong with the request.
 * - `refused`: it will never take the request as it is; some record of it, or its size, is to blame.
 * - `failed`: it broke over the request. The request may be to blame, or the destination.
 */
export type SendOutcome =
  | { readonly kind: "taken"; readonly rejected: number; readonly message: string }
  | { readonly kind: "later"; readonly reason: string; readonly afterMs?: number }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "failed"; readonly reason: string };

export type Signal = "logs" | "traces" | "metrics";

/** Sends requests of one signal to one destination. */
export interface RequestSender {
  /** One exchange, no retries. Never rejects. */
  send(body: Uint8Array, signal: AbortSignal): Promise<SendOutcome>;
  close(): Promise<void>;
}
