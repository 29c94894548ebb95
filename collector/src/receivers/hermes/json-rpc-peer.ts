import type { Schedule } from "../../runtime/schedule.ts";
import { redactAndCut } from "./display-text.ts";
import type { FrameLink, LinkEnd, OpenLink } from "./frame-link.ts";
import { type GatewayEvent, readGatewayFrame } from "./gateway-frame.ts";

/** The gateway has no such method: it is of an older build. */
export const METHOD_NOT_FOUND = -32601;

/** What the gateway answered. An error is an answer too: it says what this build does not do, or not for us. */
export type Reply =
  | { readonly kind: "result"; readonly result: unknown }
  | { readonly kind: "error"; readonly code: number; readonly message: string };

/** No answer came: too late, the link ended, or too many requests are waiting already. */
class NoReplyError extends Error {
  override readonly name = "NoReplyError";
}

export interface JsonRpcPeerOptions {
  readonly open: OpenLink;
  readonly schedule: Schedule;
  /** Requests that may wait for their replies at the same time. */
  readonly maxRequestsInFlight: number;
  /** @param characters length of its frame */
  readonly onEvent: (event: GatewayEvent, characters: number) => void;
  /** A frame that is neither reply, event nor request. */
  readonly onUnreadable: (text: string) => void;
  /** Any frame at all: a sign of life. */
  readonly onFrame: () => void;
}

interface Waiting {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: NoReplyError) => void;
  readonly cancelTimeout: () => void;
}

/** JSON-RPC 2.0 over one link: requests with their replies, and the events in between. */
export class JsonRpcPeer {
  /** Resolves when the link has ended. Never rejects. */
  readonly ended: Promise<LinkEnd>;
  readonly #options: JsonRpcPeerOptions;
  readonly #waiting = new Map<number, Waiting>();
  readonly #link: FrameLink;
  #lastId = 0;
  #end: LinkEnd | undefined;

  constructor(options: JsonRpcPeerOptions) {
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<LinkEnd>();
    this.ended = promise;
    this.#link = options.open({
      onFrame: (text) => this.#receive(text),
      onEnd: (end) => {
        this.#end = end;
        for (const { reject, cancelTimeout } of this.#waiting.values()) {
          cancelTimeout();
          reject(new NoReplyError(end.text));
        }
        this.#waiting.clear();
        resolve(end);
      },
    });
  }

  get isOpen(): boolean {
    return this.#end === undefined;
  }

  /** @throws NoReplyError when no answer comes in time, or none can come any more. */
  request(method: string, params: Readonly<Record<string, unknown>>, timeoutMs: number): Promise<Reply> {
    if (this.#end !== undefined) return Promise.reject(new NoReplyError(this.#end.text));
    if (this.#waiting.size >= this.#options.maxRequestsInFlight) {
      return Promise.reject(new NoReplyError("too many requests wait for the gateway"));
    }
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      const cancelTimeout = this.#options.schedule(() => {
        this.#waiting.delete(id);
        reject(new NoReplyError(`no answer to ${method} within ${timeoutMs} ms`));
      }, timeoutMs);
      this.#waiting.set(id, { resolve, reject, cancelTimeout });
      this.#link.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  end(end: LinkEnd): void {
    this.#link.end(end);
  }

  /** Resolves when nothing of the link is left. */
  get gone(): Promise<void> {
    return this.#link.gone;
  }

  #receive(text: string): void {
    this.#options.onFrame();
    const frame = readGatewayFrame(text);
    switch (frame.kind) {
      case "event":
        this.#options.onEvent(frame.event, text.length);
        return;
      case "result":
        this.#answer(frame.id, { kind: "result", result: frame.result });
        return;
      case "error":
        this.#answer(frame.id, { kind: "error", code: frame.code, message: redactAndCut(frame.message) });
        return;
      case "request":
        return;
      case "unreadable":
        this.#options.onUnreadable(text);
        return;
    }
  }

  /** A reply that nobody waits for any more came too late; it says nothing new. */
  #answer(id: number, reply: Reply): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    waiting.cancelTimeout();
    waiting.resolve(reply);
  }
}
