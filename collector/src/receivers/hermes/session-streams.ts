import type { GatewayEvent } from "./gateway-frame.ts";
import type { GatewaySession } from "./gateway-session.ts";
import { METHOD_NOT_FOUND } from "./json-rpc-peer.ts";
import type { ProblemReports } from "./problem-reports.ts";
import { frameIdOf, type ReplayWatermarks } from "./replay-watermarks.ts";
import { readActiveSessions, readSessionReplay, type SessionReplay } from "./session-replay.ts";

export interface SessionStreamsParts {
  readonly session: GatewaySession;
  readonly watermarks: ReplayWatermarks;
  readonly problems: ProblemReports;
  readonly saveWatermarks: () => void;
  /** Sessions whose stream is more than one frame may hold: what they hold is passed over. */
  readonly tooLarge: Set<string>;
  /** Resolves when the events are stored. @param backfill they may be from a time when nobody looked */
  readonly passOn: (
    events: readonly GatewayEvent[],
    frameIdOf: (event: GatewayEvent) => string,
    backfill: boolean,
  ) => Promise<void>;
}

/** As many as watermarks are kept of. The gateway keeps the streams of 64 sessions, and does not tell of which. */
const MAX_STREAMS = 256;

/** The gateway that answers is not the one that this connection began with. */
export class EpochChangedError extends Error {
  override readonly name = "EpochChangedError";
}

/**
 * Reads the streams of the gateway's live sessions, each from where it was left. Reading a stream attaches to nothing and
 * takes it from nobody: the gateway answers from what it keeps.
 */
export class SessionStreams {
  readonly #parts: SessionStreamsParts;
  readonly #attached = new Set<string>();
  /** Live at the last look: a session may close right after the frames that matter. */
  #previous: readonly string[] = [];
  #sessionBeingRead: string | undefined;
  /** Found, and not told of yet: a look that came to nothing has told of none. */
  #hasGap = false;
  #isRefused = false;
  /** Until every stream was read once on this connection: what they hold may be as old as the time without one. */
  #isCatchingUp = true;

  constructor(parts: SessionStreamsParts) {
    this.#parts = parts;
  }

  get attachedSessions(): number {
    return this.#attached.size;
  }

  /** Whether the gateway lets us read them: it may turn out not to. */
  get canBeRead(): boolean {
    return !this.#isRefused;
  }

  get sessionBeingRead(): string | undefined {
    return this.#sessionBeingRead;
  }

  isAttachedTo(sessionId: string): boolean {
    return this.#attached.has(sessionId);
  }

  /** @returns whether frames are gone that nobody can read any more. */
  async read(): Promise<boolean> {
    if (this.#isRefused) return false;
    const live = await this.#liveSessions();
    const sessions = new Set([...live, ...this.#previous]);
    if (sessions.size > MAX_STREAMS) {
      const text = `the streams of ${sessions.size - MAX_STREAMS} of ${sessions.size} sessions are not read`;
      this.#parts.problems.add("oversize", "session.active_list", text);
    }
    for (const sessionId of [...sessions].slice(0, MAX_STREAMS)) {
      if (await this.#readStream(sessionId)) this.#hasGap = true;
      if (this.#isRefused) break;
    }
    this.#previous = live.slice(0, MAX_STREAMS);
    const hasGap = this.#hasGap;
    this.#hasGap = false;
    this.#isCatchingUp = false;
    return hasGap;
  }

  async #liveSessions(): Promise<readonly string[]> {
    const { session, problems } = this.#parts;
    const reply = await session.ask("session.active_list", {});
    const live = reply.kind === "result" ? readActiveSessions(reply.result) : undefined;
    if (live === undefined) {
      const text = reply.kind === "error" ? `answered ${reply.code}: ${reply.message}` : "it lists no sessions";
      problems.add("malformed", "session.active_list", text);
      // What was live goes on being read: that nobody says so is no end, and the ends of children are in there.
      return this.#previous;
    }
    for (const sessionId of this.#attached) if (!live.includes(sessionId)) this.#attached.delete(sessionId);
    if (session.isAttaching) for (const sessionId of live) await this.#attach(sessionId);
    return live;
  }

  /** Joins a live session as one more client. It is never resumed, which could build one, and never prompted. */
  async #attach(sessionId: string): Promise<void> {
    if (this.#attached.has(sessionId)) return;
    const reply = await this.#parts.session.ask("session.activate", { session_id: sessionId, omit_messages: true });
    if (reply.kind === "result") this.#attached.add(sessionId);
    else this.#parts.problems.add("malformed", "session.activate", `answered ${reply.code}: ${reply.message}`);
  }

  async #readStream(sessionId: string): Promise<boolean> {
    if (this.#parts.tooLarge.has(sessionId)) return this.#passOver(sessionId);
    const { watermarks, problems, session, saveWatermarks, passOn } = this.#parts;
    let replay = await this.#askSince(sessionId, watermarks.of(sessionId).lastSeen);
    if (replay === undefined) return false;
    if (replay.latestSequence < watermarks.of(sessionId).lastSeen) {
      watermarks.restart(sessionId);
      replay = await this.#askSince(sessionId, 0);
      if (replay === undefined) return true;
    }
    const { lastSeen, restarts } = watermarks.of(sessionId);
    await passOn(
      eventsAfter(lastSeen, replay.events),
      (event) => frameIdOf(session.epoch, sessionId, event.sequence ?? 0, restarts),
      this.#isCatchingUp,
    );
    if (replay.latestSequence > lastSeen) {
      watermarks.advance(sessionId, replay.latestSequence);
      saveWatermarks();
    }
    if (replay.unreadable > 0) problems.add("malformed", "session.events.since", `${replay.unreadable} events`);
    if (!replay.isTruncated) return false;
    problems.add("sequence_gap", "session.events.since", `session ${sessionId}: frames after ${lastSeen} are gone`);
    return true;
  }

  /** Asks after a number that no frame has reached: the answer has no frames, and tells where the stream is. */
  async #passOver(sessionId: string): Promise<boolean> {
    const { watermarks, problems, saveWatermarks, tooLarge } = this.#parts;
    const replay = await this.#askSince(sessionId, Number.MAX_SAFE_INTEGER);
    if (replay === undefined) return true;
    tooLarge.delete(sessionId);
    watermarks.advance(sessionId, replay.latestSequence);
    saveWatermarks();
    problems.add("oversize", "session.events.since", `session ${sessionId}: its frames were passed over`);
    return true;
  }

  async #askSince(sessionId: string, lastSeen: number): Promise<SessionReplay | undefined> {
    const { session, problems } = this.#parts;
    this.#sessionBeingRead = sessionId;
    const reply = await session.ask("session.events.since", { session_id: sessionId, last_seen: lastSeen });
    this.#sessionBeingRead = undefined;
    if (reply.kind === "error") {
      // Not live any more, or not for us: others may be. No such method: none is, and the rows remain.
      this.#isRefused = reply.code === METHOD_NOT_FOUND;
      problems.add("malformed", "session.events.since", `answered ${reply.code}: ${reply.message}`);
      return undefined;
    }
    const replay = readSessionReplay(reply.result);
    if (replay === undefined) {
      problems.add("malformed", "session.events.since", "it lists no events");
      return undefined;
    }
    if (replay.epoch !== undefined && replay.epoch !== session.epoch) {
      throw new EpochChangedError("another run of the gateway answers");
    }
    return replay;
  }
}

/** In order, each once. */
function eventsAfter(lastSeen: number, events: readonly GatewayEvent[]): readonly GatewayEvent[] {
  let previous = lastSeen;
  return events.filter(({ sequence }) => {
    if (sequence === undefined || sequence <= previous) return false;
    previous = sequence;
    return true;
  });
}
