import type { Capabilities } from "@agent-lifecycle/proto";
import { type Schedule, scheduleUnreferenced } from "../../runtime/schedule.ts";
import { readDelegationStatus } from "./delegation-status.ts";
import { errorInWords } from "./display-text.ts";
import type { LinkEnd } from "./frame-link.ts";
import { AddressError, type GatewayAddress, urlWithCredentials } from "./gateway-address.ts";
import { type Ask, capabilitiesOf, detectFeatures, type GatewayFeatures } from "./gateway-features.ts";
import type { GatewayEvent } from "./gateway-frame.ts";
import { JsonRpcPeer } from "./json-rpc-peer.ts";
import { openWebSocketLink } from "./websocket-link.ts";

/** What came of one look at a gateway. Holds no secret. */
export type GatewayProbe =
  | {
      readonly kind: "answers";
      readonly features: GatewayFeatures;
      /** What would be known of its children. */
      readonly capabilities: Capabilities;
      /** How many children run; `undefined` when it does not say. */
      readonly running: number | undefined;
    }
  | { readonly kind: "silent"; readonly end: LinkEnd };

export interface ProbeOptions {
  readonly address: GatewayAddress;
  readonly attach: boolean;
  readonly cancel: boolean;
  readonly maxFrameBytes: number;
  /** For each step: connecting, its first frame, an answer. Milliseconds. */
  readonly timeoutMs: number;
  readonly schedule?: Schedule;
}

/** Connects once, asks what the gateway offers, and leaves. Attaches to nothing and changes nothing. Never rejects. */
export async function probeGateway(options: ProbeOptions): Promise<GatewayProbe> {
  const { address, timeoutMs } = options;
  let url: string;
  try {
    url = await urlWithCredentials(address, AbortSignal.timeout(timeoutMs));
  } catch (error) {
    return { kind: "silent", end: error instanceof AddressError ? error.end : unresponsive(errorInWords(error)) };
  }
  return probe(url, options);
}

async function probe(url: string, options: ProbeOptions): Promise<GatewayProbe> {
  const { attach, cancel, maxFrameBytes, timeoutMs, schedule = scheduleUnreferenced } = options;
  const ready = Promise.withResolvers<GatewayEvent>();
  const peer = new JsonRpcPeer({
    open: (listener) => openWebSocketLink({ url, maxFrameBytes, openTimeoutMs: timeoutMs }, listener),
    schedule,
    maxRequestsInFlight: 8,
    onFrame: () => {},
    onUnreadable: () => {},
    onEvent: (event) => {
      if (event.type === "gateway.ready") ready.resolve(event);
    },
  });
  const ask: Ask = (method, params) => peer.request(method, params, timeoutMs);
  const cancelTimeout = schedule(() => peer.end(unresponsive(`not ready within ${timeoutMs} ms`)), timeoutMs);
  try {
    const first = await Promise.race([ready.promise, peer.ended]);
    cancelTimeout();
    if (!("type" in first)) return { kind: "silent", end: first };
    const { features } = await detectFeatures(first, ask, { mayAttach: attach, mayCancel: cancel });
    const isAttaching = attach && features.sharedSessions && features.replay;
    const capabilities = capabilitiesOf(features, { receivesFrames: false, mayCancel: cancel, isAttaching });
    return { kind: "answers", features, capabilities, running: await countRunning(ask) };
  } catch (error) {
    return { kind: "silent", end: unresponsive(errorInWords(error)) };
  } finally {
    cancelTimeout();
    peer.end({ kind: "closed", text: "looked at" });
    await peer.gone;
  }
}

async function countRunning(ask: Ask): Promise<number | undefined> {
  const reply = await ask("delegation.status", {});
  const status = reply.kind === "result" ? readDelegationStatus(reply.result, 0) : "refused";
  return typeof status === "string" ? undefined : status.rows.length;
}

function unresponsive(text: string): LinkEnd {
  return { kind: "unresponsive", text };
}
