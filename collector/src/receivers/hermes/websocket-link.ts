import { WebSocket } from "ws";
import { redactAndCut } from "./display-text.ts";
import type { FrameLink, LinkEnd, LinkListener } from "./frame-link.ts";

export interface WebSocketLinkOptions {
  /** With its credentials; never shown. */
  readonly url: string;
  readonly maxFrameBytes: number;
  readonly openTimeoutMs: number;
}

/**
 * A WebSocket to the gateway. `ws` and not the one built into Node: that one cannot bound a frame before it is in memory,
 * cannot let go of a peer that stopped answering, and does not tell a refusal from an absent gateway.
 */
export function openWebSocketLink(options: WebSocketLinkOptions, listener: LinkListener): FrameLink {
  const socket = new WebSocket(options.url, {
    maxPayload: options.maxFrameBytes,
    handshakeTimeout: options.openTimeoutMs,
    followRedirects: false,
    perMessageDeflate: false,
  });
  const gone = Promise.withResolvers<void>();
  let isOpen = false;
  let hasEnded = false;
  const end = (reason: LinkEnd): void => {
    if (hasEnded) return;
    hasEnded = true;
    socket.terminate();
    listener.onEnd(reason);
  };
  socket.on("open", () => {
    isOpen = true;
  });
  socket.on("message", (data, isBinary) => {
    if (!hasEnded && !isBinary) listener.onFrame(data.toString());
  });
  socket.on("unexpected-response", (request, response) => {
    response.resume();
    request.destroy();
    end(endOfUpgrade(response.statusCode ?? 0));
  });
  // Also the listener that keeps a late error of a terminated socket from going unhandled.
  socket.on("error", (error) => end(endOfError(error, isOpen)));
  socket.on("close", (code, reason) => {
    end(endOfClose(code, reason.toString()));
    gone.resolve();
  });
  return {
    send: (text) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(text, () => {});
    },
    end,
    gone: gone.promise,
  };
}

/** A gateway that refuses us before it accepts the upgrade answers with a status of HTTP. */
function endOfUpgrade(status: number): LinkEnd {
  const text = `the gateway answered ${status} to the upgrade`;
  if (status === 401 || status === 403) return { kind: "refused", text: `${text}: check the credentials and the host` };
  return { kind: status >= 500 ? "unreachable" : "refused", text };
}

function endOfError(error: Error, isOpen: boolean): LinkEnd {
  if ("code" in error && error.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH") {
    return { kind: "oversize", text: "the gateway sent a frame larger than allowed" };
  }
  // The message of a failed connection may repeat the address; its code never does.
  const text = "code" in error && typeof error.code === "string" ? error.code : redactAndCut(error.message);
  return { kind: isOpen ? "lost" : "unreachable", text };
}

/** The gateway's own codes for a peer that it does not let in: bad credentials, host or origin, chat disabled, peer. */
const REFUSING_CODES: ReadonlySet<number> = new Set([1008, 4401, 4403, 4404, 4408]);

function endOfClose(code: number, reason: string): LinkEnd {
  const text = redactAndCut(reason === "" ? `closed with ${code}` : `closed with ${code}: ${reason}`);
  return { kind: REFUSING_CODES.has(code) ? "refused" : "lost", text };
}
