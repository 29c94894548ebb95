import type { LinkEnd, LinkListener, OpenLink } from "@agent-lifecycle/collector/parts";

/** Nobody listens at its address. */
export const DOWN: LinkEnd = { kind: "unreachable", text: "ECONNREFUSED" };

type Members = Readonly<Record<string, unknown>>;

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params: Members;
}

/** Thrown by an answer: an error reply. */
export class GatewayError extends Error {
  readonly code: number;

  constructor(code: number, message = "refused") {
    super(message);
    this.code = code;
  }
}

export interface GatewayBuild {
  /** Keeps and gives the frames of each session. */
  readonly replay: boolean;
  /** Several clients may be attached to a session. */
  readonly shared: boolean;
}

export const OLD_BUILD: GatewayBuild = { replay: false, shared: false };
export const REPLAY_BUILD: GatewayBuild = { replay: true, shared: false };
export const SHARED_BUILD: GatewayBuild = { replay: true, shared: true };

const RING_SIZE = 512;

/** A gateway in this process, as far as an observer can tell: it answers what a test has it know, and keeps every request. */
export class ScriptedGateway {
  readonly build: GatewayBuild;
  readonly requests: Request[] = [];
  /** The rows of `delegation.status`. */
  rows: unknown = [];
  epoch = "epoch-1";
  /** Answers in the place of the gateway's own, by method. `hang` gives none at all. */
  readonly answers = new Map<string, ((params: Members) => unknown) | "hang">();
  /** How the next connections end before they begin. */
  downAs: LinkEnd | undefined;
  isMute = false;
  connections = 0;
  #rings = new Map<string, { frames: Members[]; next: number; evicted: number }>();
  #listener: LinkListener | undefined;

  constructor(build: GatewayBuild) {
    this.build = build;
  }

  open: OpenLink = (listener) => {
    this.connections += 1;
    let isOpen = true;
    const gone = Promise.withResolvers<void>();
    const end = (reason: LinkEnd): void => {
      if (!isOpen) return;
      isOpen = false;
      this.#listener = undefined;
      listener.onEnd(reason);
      gone.resolve();
    };
    const send = (text: string): void => {
      if (isOpen)
        queueMicrotask(() => this.#receive(text, (frame) => isOpen && listener.onFrame(JSON.stringify(frame))));
    };
    queueMicrotask(() => {
      if (this.downAs !== undefined) return end(this.downAs);
      this.#listener = { onFrame: (text) => isOpen && listener.onFrame(text), onEnd: end };
      const payload = this.build.replay ? { skin: {}, heartbeat: true, replay_epoch: this.epoch } : { skin: {} };
      if (!this.isMute) this.push({ type: "gateway.ready", payload });
    });
    return { send, end, gone: gone.promise };
  };

  /** A frame to the observer's connection, of any kind. */
  sendText(text: string): void {
    this.#listener?.onFrame(text);
  }

  push(params: Members): void {
    this.sendText(JSON.stringify({ jsonrpc: "2.0", method: "event", params }));
  }

  drop(end: LinkEnd = { kind: "lost", text: "closed with 1006" }): void {
    this.#listener?.onEnd(end);
  }

  openSession(sessionId: string): void {
    this.#rings.set(sessionId, { frames: [], next: 1, evicted: 0 });
  }

  closeSession(sessionId: string, keepsRing = true): void {
    this.#closed.add(sessionId);
    if (!keepsRing) this.#rings.delete(sessionId);
  }

  readonly #closed = new Set<string>();

  /** What happens in a session: into its ring, and to nobody but its owner. */
  emit(sessionId: string, type: string, payload: Members = {}): Members {
    const ring = this.#rings.get(sessionId);
    if (ring === undefined) throw new Error(`no session ${sessionId}`);
    const frame = { type, session_id: sessionId, payload, seq: ring.next };
    ring.next += 1;
    ring.frames.push(frame);
    if (ring.frames.length > RING_SIZE) ring.evicted = Number(ring.frames.shift()?.["seq"]);
    return frame;
  }

  /** A new process behind the same address. */
  restart(epoch: string): void {
    this.epoch = epoch;
    this.rows = [];
    this.#rings = new Map();
    this.drop();
  }

  evictAll(sessionId: string): void {
    const ring = this.#rings.get(sessionId);
    if (ring !== undefined) Object.assign(ring, { frames: [], evicted: ring.next - 1 });
  }

  asked(method: string): readonly Members[] {
    return this.requests.filter((request) => request.method === method).map(({ params }) => params);
  }

  #receive(text: string, reply: (frame: Members) => void): void {
    const request = JSON.parse(text) as Request;
    this.requests.push(request);
    const answer = this.answers.get(request.method);
    if (answer === "hang") return;
    try {
      const result = answer === undefined ? this.#answer(request) : answer(request.params);
      reply({ jsonrpc: "2.0", id: request.id, result });
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      reply({ jsonrpc: "2.0", id: request.id, error: { code: error.code, message: error.message } });
    }
  }

  #answer({ method, params }: Request): unknown {
    const { replay, shared } = this.build;
    switch (method) {
      case "delegation.status":
        this.#declared(params, []);
        return { active: this.rows, paused: false, max_spawn_depth: 2, max_concurrent_children: 3 };
      case "session.active_list":
        this.#declared(params, []);
        return { sessions: [...this.#rings.keys()].filter((id) => !this.#closed.has(id)).map((id) => ({ id })) };
      case "subagent.interrupt":
        if (shared) throw new GatewayError(4001, "session not found or not owned by this transport");
        return { found: JSON.stringify(this.rows).includes(`"${String(params["subagent_id"])}"`) };
      case "gateway.ping":
        if (!replay) break;
        return { ok: true };
      case "session.events.since":
        if (!replay) break;
        this.#declared(params, ["session_id", "last_seen"]);
        return this.#since(String(params["session_id"]), Number(params["last_seen"]));
      case "subagent.list":
        if (!shared) break;
        throw new GatewayError(4001, "session not found or not owned by this transport");
      case "session.activate":
        this.#declared(params, ["session_id", "omit_messages"]);
        return { session_id: params["session_id"] };
    }
    throw new GatewayError(-32601, `unknown method: ${method}`);
  }

  /** Newer builds refuse a call for one member that they do not know. */
  #declared(params: Members, names: readonly string[]): void {
    const unknown = Object.keys(params).find((name) => !names.includes(name));
    if (unknown !== undefined) throw new GatewayError(4000, `unknown member ${unknown}`);
  }

  #since(sessionId: string, lastSeen: number): Members {
    const ring = this.#rings.get(sessionId) ?? { frames: [], next: 1, evicted: 0 };
    const events = ring.frames.filter((frame) => Number(frame["seq"]) > lastSeen);
    return {
      events,
      count: events.length,
      latest_seq: ring.next - 1,
      truncated: lastSeen < ring.evicted,
      epoch: this.epoch,
    };
  }
}
