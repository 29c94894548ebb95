import { createHmac } from "node:crypto";
import { formatTimestamp } from "@agent-lifecycle/proto";
import type { ChildUpdate } from "./child-update.ts";
import { projectionRecordOf } from "./projection-record.ts";

/** A CloudEvent, version 1.0, in its structured form. */
export interface CloudEvent {
  readonly specversion: "1.0";
  /** The same whenever it is sent again. */
  readonly id: string;
  readonly source: string;
  /** `agent_lifecycle.child.` and what happened. */
  readonly type: string;
  /** The child. */
  readonly subject: string;
  readonly time: string;
  readonly datacontenttype: "application/json";
  readonly data: object;
}

export const CLOUD_EVENTS_CONTENT_TYPE = "application/cloudevents+json";

/** What of a child somebody wants to be told; `undefined` for what is no occasion for any. */
export function occasionOf({ what }: ChildUpdate): string | undefined {
  switch (what.kind) {
    case "state":
    case "correction":
    case "loss":
      return what.transition.to;
    case "stale":
      return "stale";
    default:
      return undefined;
  }
}

export function cloudEventOf(update: ChildUpdate, occasion: string): CloudEvent {
  const { uid, at, body, traceId, attributes } = projectionRecordOf(update);
  return {
    specversion: "1.0",
    id: uid,
    source: `/agent-lifecycle/sources/${encodeURIComponent(update.source)}`,
    type: `agent_lifecycle.child.${occasion}`,
    subject: update.childId,
    time: formatTimestamp(at),
    datacontenttype: "application/json",
    data: { message: body, traceId, attributes },
  };
}

/**
 * The headers by which a receiver knows who sent it and that nothing was changed, as Standard Webhooks has them: the
 * signature is of the id, the time of sending in seconds, and the body. An old time tells a request that is played again.
 */
export function signatureHeaders(id: string, body: Uint8Array, secret: string, nowMs: number): Record<string, string> {
  const seconds = String(Math.floor(nowMs / 1_000));
  const signature = createHmac("sha256", secret).update(`${id}.${seconds}.`).update(body).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": seconds, "webhook-signature": `v1,${signature}` };
}
