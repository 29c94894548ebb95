import type { ReadableLogRecord } from "@opentelemetry/sdk-logs";
import type { DeliveryOutcome } from "./delivery-outcome.ts";

type Send = (records: readonly ReadableLogRecord[]) => Promise<DeliveryOutcome>;

/**
 * Sends what an endpoint finds too large (HTTP 413) in halves, and those in halves, until what is too large by itself is
 * alone: it is refused, and nothing beside it. A half that cannot be sent now leaves the whole batch to another try: what
 * is there already comes twice then, with the same event ids.
 */
export async function sendInHalves(records: readonly ReadableLogRecord[], send: Send): Promise<DeliveryOutcome> {
  const outcome = await send(records);
  if (outcome.status !== "refused" || outcome.isTooLarge !== true || records.length < 2) return outcome;
  const middle = Math.ceil(records.length / 2);
  const halves = [records.slice(0, middle), records.slice(middle)];
  let refused = 0;
  let rejected = 0;
  let message: string | undefined;
  for (const half of halves) {
    const part = await sendInHalves(half, send);
    if (part.status === "busy" || part.status === "unreachable") return part;
    if (part.status === "refused") {
      refused += half.length;
      message = part.problem;
    } else {
      rejected += part.rejected;
      message = part.message ?? message;
    }
  }
  if (refused === records.length) return outcome;
  return {
    status: "delivered",
    rejected: rejected + refused,
    ...(message === undefined ? undefined : { message }),
  };
}
