import type { LinkEnd, OpenLink } from "@agent-lifecycle/collector/parts";
import type { Members } from "./frames.ts";
import type { GatewayBuild } from "./gateway-build.ts";
import {
  answerCall,
  type GatewayClient,
  GatewayError,
  type GatewaySession,
  type GatewayState,
  openSession,
} from "./gateway-methods.ts";
import { ScriptedChild } from "./scripted-child.ts";

/** Nobody listens at its address. */
export const DOWN: LinkEnd = { kind: "unreachable", text: "ECONNREFUSED" };

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: Members;
}

/** One connection at the gateway's end. */
export interface GatewayConnectionEnd {
  receive(text: string): void;
  /** The client is gone. */
  close(): void;
}

type Answer = ((params: Members) => unknown) | "hang";

interface Connected extends GatewayClient {
  sendText(text: string): void;
  end(reason: LinkEnd): void;
}

/**
 * A gateway as far as its clients can tell: it knows what a test has it know, speaks as its build does, keeps every request,
 * and breaks in the ways that real ones do. Transports are put around it: a WebSocket server, standard streams, or a link
 * within this process.
 */
export class GatewayDouble implements GatewayState {
  readonly build: GatewayBuild;
  readonly requests: Call[] = [];
  rows: unknown = [];
  epoch = "epoch-1";
  readonly sessions = new Map<string, GatewaySession>();
  readonly interrupted: string[] = [];
  /** Answers in the place of the gateway's own, by method. `hang` gives none at all. */
  readonly answers = new Map<string, Answer>();
  /** How the next connections within this process end before they begin. */
  downAs: LinkEnd | undefined;
  /** Never says that it is ready. */
  isMute = false;
  /** Attached clients hear nothing any more, and nobody tells them. */
  isSilent = false;
  connections = 0;
  readonly #connected = new Set<Connected>();
  #held: (() => void)[] | undefined;
  #waiting: { readonly method: string; readonly after: number; readonly resolve: () => void }[] = [];

  constructor(build: GatewayBuild) {
    this.build = build;
  }

  /** A client's connection. The gateway says at once that it is ready. */
  connect(sendText: (text: string) => void, end: (reason: LinkEnd) => void): GatewayConnectionEnd {
    this.connections += 1;
    const client: Connected = { sendText, end, send: (frame) => this.#deliver(() => sendText(JSON.stringify(frame))) };
    this.#connected.add(client);
    const named = this.build.replay ? { change_events: true, heartbeat: true, replay_epoch: this.epoch } : {};
    if (!this.isMute) client.send(eventFrame({ type: "gateway.ready", payload: { skin: {}, ...named } }));
    return {
      receive: (text) => this.#receive(text, client),
      close: () => {
        this.#connected.delete(client);
        for (const { attached } of this.sessions.values()) attached.delete(client);
      },
    };
  }

  /** A link to it within this process. */
  open: OpenLink = (listener) => {
    let isOpen = true;
    let gateway: GatewayConnectionEnd | undefined;
    const gone = Promise.withResolvers<void>();
    const end = (reason: LinkEnd): void => {
      if (!isOpen) return;
      isOpen = false;
      gateway?.close();
      listener.onEnd(reason);
      gone.resolve();
    };
    queueMicrotask(() => {
      if (this.downAs === undefined) gateway = this.connect((text) => isOpen && listener.onFrame(text), end);
      else {
        this.connections += 1;
        end(this.downAs);
      }
    });
    return { send: (text) => queueMicrotask(() => isOpen && gateway?.receive(text)), end, gone: gone.promise };
  };

  /** Text to everybody who is connected, of any kind. */
  sendText(text: string): void {
    for (const client of this.#connected) client.sendText(text);
  }

  /** An event to everybody who is connected. */
  push(params: Members): void {
    this.sendText(JSON.stringify(eventFrame(params)));
  }

  /** Every connection ends; the process lives on. */
  drop(reason: LinkEnd = { kind: "lost", text: "closed with 1006" }): void {
    for (const client of [...this.#connected]) client.end(reason);
  }

  openSession(sessionId: string): void {
    openSession(this.sessions, sessionId);
  }

  /** It is not live any more; what was kept of it may be read for a while. */
  closeSession(sessionId: string): void {
    this.#session(sessionId).isLive = false;
  }

  /** What happens in a session: kept where the build keeps frames, and told to those who are attached. */
  emit(sessionId: string, type: string, payload: Members = {}): Members {
    const { ring, attached } = this.#session(sessionId);
    const frame = { type, session_id: sessionId, payload };
    const numbered = this.build.replay ? ring.add(frame) : frame;
    if (!this.isSilent) for (const client of attached) client.send(eventFrame(numbered));
    return numbered;
  }

  /** A child of a session, with its frames and its row. */
  child(sessionId: string, childId: string, more: Members = {}): ScriptedChild {
    return new ScriptedChild(this, sessionId, childId, more);
  }

  /** Another process behind the same address: it knows nothing of what was. */
  restart(epoch: string): void {
    this.epoch = epoch;
    this.rows = [];
    this.sessions.clear();
    this.drop();
  }

  /** Everything that was kept of a session is gone. */
  evictAll(sessionId: string): void {
    this.#session(sessionId).ring.evictAll();
  }

  /** From now on every frame waits, until `release`: a peer that is slow, and not dead. */
  hold(): void {
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const deliver of held) deliver();
  }

  asked(method: string): readonly Members[] {
    return this.requests.filter((request) => request.method === method).map(({ params }) => params);
  }

  /** Resolves when it was asked so often from now on. */
  async whenAsked(method: string, times = 1): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ method, after: this.asked(method).length + times, resolve });
    await promise;
  }

  #receive(text: string, client: GatewayClient): void {
    const request = JSON.parse(text) as Call;
    this.requests.push(request);
    const answer = this.answers.get(request.method);
    if (answer !== "hang") client.send({ jsonrpc: "2.0", id: request.id, ...this.#outcome(request, client, answer) });
    const count = this.asked(request.method).length;
    const due = this.#waiting.filter(({ method, after }) => method === request.method && after <= count);
    this.#waiting = this.#waiting.filter((waiter) => !due.includes(waiter));
    for (const { resolve } of due) resolve();
  }

  #outcome({ method, params }: Call, client: GatewayClient, answer: Exclude<Answer, "hang"> | undefined): Members {
    try {
      return { result: answer === undefined ? answerCall(this, client, method, params) : answer(params) };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return { error: { code: error.code, message: error.message } };
    }
  }

  #deliver(deliver: () => void): void {
    if (this.#held === undefined) deliver();
    else this.#held.push(deliver);
  }

  #session(sessionId: string): GatewaySession {
    const session = this.sessions.get(sessionId);
    if (session === undefined) throw new Error(`no session ${sessionId}`);
    return session;
  }
}

function eventFrame(params: Members): Members {
  return { jsonrpc: "2.0", method: "event", params };
}
