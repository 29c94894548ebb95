import { EventRing } from "./event-ring.ts";
import type { Members } from "./frames.ts";
import type { GatewayBuild } from "./gateway-build.ts";

/** Thrown by an answer: an error reply. */
export class GatewayError extends Error {
  readonly code: number;

  constructor(code: number, message = "refused") {
    super(message);
    this.code = code;
  }
}

/** One client, as the gateway holds it. */
export interface GatewayClient {
  send(frame: Members): void;
}

export interface GatewaySession {
  readonly ring: EventRing;
  /** Who gets its frames. */
  readonly attached: Set<GatewayClient>;
  isLive: boolean;
}

/** What a gateway process knows. A test writes to it, and methods answer from it. */
export interface GatewayState {
  readonly build: GatewayBuild;
  readonly epoch: string;
  /** The rows of `delegation.status`. A test may put anything here. */
  readonly rows: unknown;
  readonly sessions: Map<string, GatewaySession>;
  /** Children that were told to stop. */
  readonly interrupted: string[];
}

const NOT_OURS = "session not found or not owned by this transport";

/** Answers one call as the build would. @throws GatewayError */
export function answerCall(state: GatewayState, client: GatewayClient, method: string, params: Members): unknown {
  const { build, sessions } = state;
  switch (method) {
    case "delegation.status":
      declared(build, params, []);
      return { active: state.rows, paused: false, max_spawn_depth: 2, max_concurrent_children: 3 };
    case "session.active_list": {
      declared(build, params, []);
      const live = [...sessions].filter(([, { isLive }]) => isLive);
      return { sessions: live.map(([id]) => ({ id, session_key: `stored-${id}`, status: "working", current: false })) };
    }
    case "session.create": {
      const session = openSession(sessions, `s${sessions.size + 1}`);
      session.attached.add(client);
      return { session_id: `s${sessions.size}`, stored_session_id: `stored-s${sessions.size}`, message_count: 0 };
    }
    case "session.activate":
    case "session.resume":
      declared(build, params, ["session_id", "omit_messages"]);
      return attach(state, client, String(params["session_id"]));
    case "subagent.interrupt":
      return interrupt(state, client, params);
    case "gateway.ping":
      if (!build.replay) break;
      return { ok: true };
    case "session.events.since": {
      if (!build.replay) break;
      declared(build, params, ["session_id", "last_seen"]);
      const ring = sessions.get(String(params["session_id"]))?.ring ?? new EventRing();
      return { ...ring.since(Number(params["last_seen"])), epoch: state.epoch };
    }
    case "subagent.list":
      if (!build.shared) break;
      attachedSession(state, client, params);
      return { subagents: state.rows, delegations: [] };
  }
  throw new GatewayError(-32601, `unknown method: ${method}`);
}

export function openSession(sessions: Map<string, GatewaySession>, id: string): GatewaySession {
  const session = { ring: new EventRing(), attached: new Set<GatewayClient>(), isLive: true };
  sessions.set(id, session);
  return session;
}

/** One more subscriber where sessions are shared; elsewhere the owner falls silent, without a notice. */
function attach({ build, sessions }: GatewayState, client: GatewayClient, sessionId: string): unknown {
  const session = sessions.get(sessionId);
  if (session?.isLive !== true) throw new GatewayError(4007, "session not live");
  if (!build.shared) session.attached.clear();
  session.attached.add(client);
  return { session_id: sessionId, stored_session_id: `stored-${sessionId}`, status: "working", running: true };
}

function interrupt(state: GatewayState, client: GatewayClient, params: Members): unknown {
  const { build, rows, interrupted } = state;
  declared(build, params, ["session_id", "subagent_id"]);
  if (build.shared) attachedSession(state, client, params);
  const childId = String(params["subagent_id"]);
  const found = JSON.stringify(rows).includes(`"${childId}"`);
  if (found) interrupted.push(childId);
  return { found, subagent_id: childId };
}

function attachedSession({ sessions }: GatewayState, client: GatewayClient, params: Members): void {
  if (sessions.get(String(params["session_id"]))?.attached.has(client) !== true) throw new GatewayError(4001, NOT_OURS);
}

function declared({ strict }: GatewayBuild, params: Members, names: readonly string[]): void {
  const unknown = Object.keys(params).find((name) => !names.includes(name));
  if (strict && unknown !== undefined) throw new GatewayError(4000, `unknown member ${unknown}`);
}
