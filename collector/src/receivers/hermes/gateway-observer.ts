import { formatTimestamp, type LifecycleEventInput, type LifecycleSnapshot } from "@agent-lifecycle/proto";
import { ChildRoster, type KnownChild } from "./child-roster.ts";
import {
  type DelegationStatus,
  delegationSnapshot,
  type RowNews,
  readDelegationStatus,
  takeNews,
} from "./delegation-status.ts";
import type { Delivery } from "./delivery.ts";
import { type FrameReading, mapFrame, mapProgress } from "./frame-mapping.ts";
import type { GatewayEvent } from "./gateway-frame.ts";
import type { GatewaySession } from "./gateway-session.ts";
import type { HeldEvents } from "./held-events.ts";
import type { ObservationTimes } from "./observation-times.ts";
import type { ProblemReports } from "./problem-reports.ts";
import { withoutRepeatedSigns } from "./repeated-signs.ts";
import type { ReplayWatermarks } from "./replay-watermarks.ts";
import { SessionStreams } from "./session-streams.ts";
import type { DetailPolicy } from "./subagent-details.ts";
import { readSubagentFrame, type SubagentFacts, type SubagentFrame } from "./subagent-frame.ts";

export interface ObserverParts {
  readonly source: string;
  readonly delivery: Delivery;
  readonly times: ObservationTimes;
  readonly policy: DetailPolicy;
  readonly problems: ProblemReports;
  readonly watermarks: ReplayWatermarks;
  /** Sessions whose stream is more than one frame may hold. */
  readonly tooLarge: Set<string>;
  /** Keeps the watermarks; called after what they stand for is stored. */
  readonly saveWatermarks: () => void;
  /** The collector's children of this source that have not ended. */
  readonly knownChildren: () => readonly KnownChild[];
}

/** Whether an event that came unasked tells of a child. */
export function isAboutChild({ type }: GatewayEvent): boolean {
  return type.startsWith("subagent.");
}

interface Look {
  readonly status: DelegationStatus;
  /** Something that happened can no longer be told. */
  readonly hasGap: boolean;
  readonly news: RowNews;
}

/** The gateway's answer cannot be used. */
class UnusableAnswerError extends Error {
  override readonly name = "UnusableAnswerError";
}

/**
 * Looks at a gateway: who runs, and what happened since the last look. It only reads. Looks follow one another; each one
 * asks for the running children *first* and for the frames after that, so that the end of a child which the rows no longer
 * show is among the frames, and nobody is missed who ended well.
 */
export class GatewayObserver {
  readonly #parts: ObserverParts;
  readonly #roster = new ChildRoster();
  readonly #session: GatewaySession;
  readonly #streams: SessionStreams | undefined;
  readonly #held: HeldEvents;
  #arrivals = 0;
  #snapshots = 0;
  #mustPassOn = true;
  #looking: Promise<unknown> = Promise.resolve();
  lastLookAt: number | undefined;

  /** @param held what came unasked before; what comes later joins it */
  constructor(parts: ObserverParts, session: GatewaySession, held: HeldEvents) {
    this.#parts = parts;
    this.#session = session;
    this.#held = held;
    this.#roster.recall(parts.knownChildren(), session.epoch);
    const { watermarks, problems, saveWatermarks, tooLarge } = parts;
    this.#streams = session.features.replay
      ? new SessionStreams({
          session,
          watermarks,
          problems,
          saveWatermarks,
          tooLarge,
          passOn: (events, frameIdOf, backfill) => this.#passOn(events, frameIdOf, backfill),
        })
      : undefined;
    if (this.#streams !== undefined) held.take();
  }

  /** Children that run, as far as is known. */
  get running(): number {
    let running = 0;
    for (const [, { phase, omissions }] of this.#roster.entries())
      if (phase === "running" && omissions === 0) running += 1;
    return running;
  }

  get attachedSessions(): number {
    return this.#streams?.attachedSessions ?? 0;
  }

  /** The session whose stream was being read when the connection broke off. */
  get sessionBeingRead(): string | undefined {
    return this.#streams?.sessionBeingRead;
  }

  sessionOf(childId: string): string | undefined {
    return this.#roster.get(childId)?.sessionId;
  }

  isAttachedTo(sessionId: string): boolean {
    return this.#streams?.isAttachedTo(sessionId) ?? false;
  }

  /**
   * Takes an event that came unasked. @returns whether it is worth a look at once. Where frames can be read from their
   * stream, that is all it is: there they are in order and complete, and a stream that fell silent is no loss.
   */
  push(event: GatewayEvent, characters: number): boolean {
    if (event.type === "sessions.changed") return this.#readsStreams;
    if (!isAboutChild(event)) return false;
    if (!this.#readsStreams) this.#held.add(event, characters);
    return true;
  }

  /**
   * Looks, and passes on what is new: events, and a snapshot where the rows tell more than the events did. Rejects when
   * the gateway gave no usable answer to who runs: then nothing is concluded about any child.
   */
  look(): Promise<void> {
    return this.#inTurn(async () => {
      const { status, hasGap, news } = await this.#look();
      if (!news.isAboutPresence && !hasGap && !this.#mustPassOn) return;
      // One that was refused is made up for by the next look's.
      this.#mustPassOn = !(await this.#parts.delivery.snapshot(this.#snapshotOf(status)));
    });
  }

  /**
   * Looks for somebody who passes the snapshot on. Rejects as `look` does. @param signal nobody waits for it any more: what
   * there was to tell is passed on by the next look
   */
  snapshot(signal: AbortSignal): Promise<LifecycleSnapshot> {
    return this.#inTurn(async () => {
      try {
        signal.throwIfAborted();
        return this.#snapshotOf((await this.#look()).status);
      } finally {
        if (signal.aborted) this.#mustPassOn = true;
      }
    });
  }

  /** The child was asked to stop: a fact beside its state (D5). Resolves when it is stored. */
  async noteCancelRequest(childId: string, requestedAt: number): Promise<void> {
    const { source, delivery, times, knownChildren } = this.#parts;
    const child = this.#roster.get(childId);
    const lineage =
      child === undefined
        ? knownChildren().find((known) => known.childId === childId)?.lineage
        : this.#roster.lineageOf(child);
    if (lineage === undefined) return;
    const event: LifecycleEventInput = {
      schemaVersion: 1,
      eventId: `${this.#arrivalId()}:cancel`,
      source,
      sourceEpoch: this.#session.epoch,
      childId,
      lineage,
      kind: "diagnostic",
      observedAt: formatTimestamp(times.now()),
      details: { cancelRequestedAt: formatTimestamp(requestedAt) },
    };
    await delivery.events([event]);
  }

  /** Resolves when no look is under way. */
  async settle(): Promise<void> {
    await this.#looking;
  }

  #inTurn<Value>(run: () => Promise<Value>): Promise<Value> {
    const turn = this.#looking.then(run);
    this.#looking = turn.catch(() => {});
    return turn;
  }

  async #look(): Promise<Look> {
    const status = await this.#askWhoRuns();
    // Places in the tree first: a frame of a grandchild names its parent and not its root.
    for (const facts of status.rows) this.#roster.note(facts);
    const hasGap = await this.#readFrames();
    const news = takeNews(status, this.#roster, this.#readsStreams);
    for (const word of news.unknownStatuses) {
      this.#parts.problems.add("unsupported_status", "delegation.status.active.status", `unknown status ${word}`);
    }
    await this.#passOnProgress(news.progressed, status.askedAt);
    this.lastLookAt = status.askedAt;
    return { status, hasGap, news };
  }

  /** One event for each, and no snapshot of all: on a build without frames, this is most of what there is to tell. */
  async #passOnProgress(progressed: readonly SubagentFacts[], observedAt: number): Promise<void> {
    await this.#parts.delivery.events(
      progressed.flatMap((facts) => mapProgress(facts, this.#roster, this.#reading(this.#arrivalId(), observedAt))),
    );
  }

  #reading(frameId: string, observedAt: number): FrameReading {
    const { source, policy } = this.#parts;
    const { epoch: sourceEpoch, capabilities } = this.#session;
    return { source, sourceEpoch, frameId, observedAt, capabilities, policy };
  }

  async #askWhoRuns(): Promise<DelegationStatus> {
    const askedAt = this.#parts.times.now();
    const reply = await this.#session.ask("delegation.status", {});
    if (reply.kind === "error") {
      throw new UnusableAnswerError(`delegation.status answered ${reply.code}: ${reply.message}`);
    }
    const status = readDelegationStatus(reply.result, askedAt);
    if (typeof status !== "string") return status;
    this.#parts.problems.add("invalid_snapshot", "delegation.status", status);
    throw new UnusableAnswerError(`delegation.status cannot be used: ${status}`);
  }

  get #readsStreams(): boolean {
    return this.#streams?.canBeRead === true;
  }

  /** @returns whether something that happened can no longer be told. */
  async #readFrames(): Promise<boolean> {
    if (this.#streams?.canBeRead === true) return this.#streams.read();
    const { events, lost } = this.#held.take();
    await this.#passOn(events, () => this.#arrivalId(), false);
    if (lost > 0)
      this.#parts.problems.add("sequence_gap", "event", `${lost} events came faster than they could be read`);
    return lost > 0;
  }

  /** Frames without a number are told apart by their arrival. */
  #arrivalId(): string {
    this.#arrivals += 1;
    return `${this.#session.connectionId}:${this.#arrivals}`;
  }

  async #passOn(
    events: readonly GatewayEvent[],
    frameIdOf: (event: GatewayEvent) => string,
    backfill: boolean,
  ): Promise<void> {
    const { times, problems, delivery } = this.#parts;
    const frames: { readonly frame: SubagentFrame; readonly id: string }[] = [];
    for (const event of events) {
      const reading = readSubagentFrame(event);
      if (reading.kind === "unusable") problems.add("malformed", "event", reading.reason);
      if (reading.kind === "frame") frames.push({ frame: reading.frame, id: frameIdOf(event) });
    }
    const candidates: LifecycleEventInput[] = [];
    for (const { frame, id } of withoutRepeatedSigns(frames)) {
      const mapped = mapFrame(frame, this.#roster, this.#reading(id, times.now()));
      candidates.push(...mapped.events);
      if (mapped.unknownStatus !== undefined) {
        problems.add("unsupported_status", "subagent.complete.status", `unknown status ${mapped.unknownStatus}`);
      }
    }
    await delivery.events(candidates, backfill);
  }

  #snapshotOf(status: DelegationStatus): LifecycleSnapshot {
    const { source, policy, knownChildren } = this.#parts;
    const { epoch: sourceEpoch, connectionId, capabilities } = this.#session;
    this.#snapshots += 1;
    const snapshotId = `${connectionId}:${this.#snapshots}`;
    const known = knownChildren();
    return delegationSnapshot(status, this.#roster, { source, sourceEpoch, snapshotId, capabilities, policy, known });
  }
}
