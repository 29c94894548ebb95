import { isJsonObject } from "@agent-lifecycle/proto";

/** An event of the gateway, as a notification carries it and as a replay lists it. */
export interface GatewayEvent {
  readonly type: string;
  /** The runtime id of the session; `undefined` for what concerns all of them. */
  readonly sessionId: string | undefined;
  /** Position in its session; only gateways that can replay number their events. */
  readonly sequence: number | undefined;
  readonly payload: Readonly<Record<string, unknown>>;
}

export type GatewayFrame =
  | { readonly kind: "result"; readonly id: number; readonly result: unknown }
  | { readonly kind: "error"; readonly id: number; readonly code: number; readonly message: string }
  | { readonly kind: "event"; readonly event: GatewayEvent }
  /** A request to its client. We declared that we answer none. */
  | { readonly kind: "request" }
  | { readonly kind: "unreadable" };

/** Reads one frame. Never throws. */
export function readGatewayFrame(text: string): GatewayFrame {
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    return { kind: "unreadable" };
  }
  if (!isJsonObject(frame)) return { kind: "unreadable" };
  const { id, method } = frame;
  if (method === "event") {
    const event = readGatewayEvent(frame["params"]);
    return event === undefined ? { kind: "unreadable" } : { kind: "event", event };
  }
  if (typeof method === "string") return { kind: "request" };
  if (typeof id !== "number") return { kind: "unreadable" };
  const { error } = frame;
  if (isJsonObject(error)) {
    const { code, message } = error;
    return {
      kind: "error",
      id,
      code: typeof code === "number" ? code : 0,
      message: typeof message === "string" ? message : "",
    };
  }
  return Object.hasOwn(frame, "result") ? { kind: "result", id, result: frame["result"] } : { kind: "unreadable" };
}

/** The bare event object, or `undefined` when it is none. An absent payload is an empty one. */
export function readGatewayEvent(value: unknown): GatewayEvent | undefined {
  if (!isJsonObject(value)) return undefined;
  const { type, session_id: sessionId, seq, payload } = value;
  if (typeof type !== "string") return undefined;
  return {
    type,
    sessionId: typeof sessionId === "string" && sessionId !== "" ? sessionId : undefined,
    sequence: typeof seq === "number" && Number.isSafeInteger(seq) && seq >= 0 ? seq : undefined,
    payload: isJsonObject(payload) ? payload : {},
  };
}
