/** How a request ended: `rejected` is the client's doing, `overloaded` and `failed` are ours, `aborted` got no answer. */
export type RequestOutcome = "accepted" | "rejected" | "overloaded" | "failed" | "aborted";

/** What the HTTP surfaces tell of themselves. Every method is cheap and never throws. */
export interface RequestTelemetry {
  countRequest(receiver: string, outcome: RequestOutcome): void;
}
