import { HttpRefusal, retryLater } from "../http/http-refusal.ts";
import type { Refusal } from "../runtime/intake.ts";

/** Nothing was stored: what the client is told, and whether it is asked to come back. */
export function intakeRefusal(refusal: Refusal): HttpRefusal {
  if (refusal.kind === "rate_limited") {
    return retryLater("rate_limited", "this sender sends more than it may", refusal.retryAfterSeconds);
  }
  if (refusal.kind === "overloaded") {
    return retryLater("overloaded", "the collector has more to store than it can hold", refusal.retryAfterSeconds);
  }
  const detail = "the collector cannot store anything now";
  return refusal.retryable ? retryLater("unavailable", detail) : new HttpRefusal("internal", detail);
}
