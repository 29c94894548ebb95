/** `started`: nothing else is known yet; it stays so when the collector ended in between. */
export type AdminOutcome = "started" | "succeeded" | "failed" | "refused";

/** One thing that somebody with the scope admin did, or that somebody wanted to do and may not. */
export interface AdminAction {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Name of the token or of the client certificate. */
  readonly principal: string;
  /** `reload`, `backup`, `retention`. */
  readonly action: string;
  /** Network address that the request came from. */
  readonly address: string;
  readonly outcome: AdminOutcome;
  /** What it was about, or how it ended. */
  readonly text: string;
}

export interface StoredAdminAction extends AdminAction {
  readonly id: number;
}

/** Where actions are kept. What is returned from is durable. Every method throws StoreUnavailableError when it cannot. */
export interface AdminActionStore {
  /** Keeps the newest 10,000, and beside them the newest 1,000 refused ones, so that a flood of those hides nothing. */
  append(action: AdminAction): number;
  finish(id: number, outcome: AdminOutcome, text: string): void;
  /** The newest first. */
  list(query: { readonly limit: number; readonly beforeId?: number }): readonly StoredAdminAction[];
}
