import {
  type Capabilities,
  formatTimestamp,
  type LifecycleEventInput,
  MAX_DETAIL_TEXT_LENGTH,
  type State,
  type TerminalState,
} from "@agent-lifecycle/proto";
import type { ChildRoster, RosterChild } from "./child-roster.ts";
import { readCompletion } from "./completion-status.ts";
import { redactAndCut } from "./display-text.ts";
import { type DetailPolicy, subagentDetails } from "./subagent-details.ts";
import type { SubagentFacts, SubagentFrame } from "./subagent-frame.ts";

/** Under what circumstances a frame was read. */
export interface FrameReading {
  readonly source: string;
  readonly sourceEpoch: string;
  /** Identifies the frame: the same for the same frame however often it is read, where the gateway numbers its frames. */
  readonly frameId: string;
  /** When it was read: frames carry no time of their own. Milliseconds since the epoch. */
  readonly observedAt: number;
  readonly capabilities: Capabilities;
  readonly policy: DetailPolicy;
}

export interface MappedFrame {
  readonly events: readonly LifecycleEventInput[];
  /** A word that nobody has defined, as it came. */
  readonly unknownStatus?: string;
}

/**
 * What a frame says of its child, as events; the roster learns what was said. Events are without a sequence: the
 * gateway numbers the frames of a session, not those of a child.
 */
export function mapFrame(frame: SubagentFrame, roster: ChildRoster, reading: FrameReading): MappedFrame {
  const { facts, type } = frame;
  const child = roster.note(facts);
  child.sessionId = frame.sessionId ?? child.sessionId;
  child.toolCalls = facts.toolCalls ?? child.toolCalls;
  const about = new EventsAbout(frame, roster.lineageOf(child), reading);
  switch (type) {
    case "subagent.spawn_requested":
      if (child.phase === "unseen") {
        child.phase = "queued";
        about.enters("created");
      }
      break;
    case "subagent.start":
      start(child, about, reading.observedAt);
      break;
    case "subagent.thinking":
      about.isActive("thinking");
      break;
    case "subagent.progress":
      about.isActive("working");
      break;
    case "subagent.tool":
      usesTool(about, facts);
      break;
    case "subagent.complete":
      return complete(child, about, facts.status);
  }
  return { events: about.events };
}

/** A tool that a row shows and no frame told of, as an activity: the last one that was started. */
export function mapProgress(facts: SubagentFacts, roster: ChildRoster, reading: FrameReading): LifecycleEventInput[] {
  const child = roster.note(facts);
  const frame = { type: "subagent.tool", sessionId: child.sessionId, sequence: undefined, facts } as const;
  const about = new EventsAbout(frame, roster.lineageOf(child), reading);
  usesTool(about, facts);
  return about.events;
}

function usesTool(about: EventsAbout, { tool }: SubagentFacts): void {
  about.isActive(tool === undefined ? "using a tool" : redactAndCut(tool), tool);
}

/**
 * The gateway reports neither the creation of a child that is asked for in the background nor that it starts up: both lie
 * before its start, and are marked as inferred. A child that a row showed first is running already: then its start is a
 * sign of life. After an end, a start claims to be the end's refutation, which the contract counts and does not believe.
 */
function start(child: RosterChild, about: EventsAbout, observedAt: number): void {
  switch (child.phase) {
    case "running":
      about.isActive("started");
      return;
    case "ended":
      about.enters("running");
      return;
    case "unseen":
      about.enters("created", { inferred: true });
      break;
    case "queued":
      break;
  }
  child.phase = "running";
  child.runningSince = observedAt;
  about.enters("starting", { inferred: true });
  about.enters("running");
}

function complete(child: RosterChild, about: EventsAbout, status: string | undefined): MappedFrame {
  const completion = readCompletion(status);
  if (!completion.ends) {
    about.isActive("working");
    return { events: about.events, unknownStatus: status ?? "" };
  }
  if (child.phase === "queued" && completion.state === "completed") {
    // Only a running child completes (contract section 1); one that waits may fail or be called off.
    about.enters("starting", { inferred: true });
    about.enters("running", { inferred: true });
  }
  child.phase = "ended";
  about.ends(completion.state, completion.cause);
  return completion.isKnownWord ? { events: about.events } : { events: about.events, unknownStatus: status ?? "" };
}

/** Collects the events of one frame. */
class EventsAbout {
  readonly events: LifecycleEventInput[] = [];
  readonly #frame: SubagentFrame;
  readonly #lineage: LifecycleEventInput["lineage"];
  readonly #reading: FrameReading;

  constructor(frame: SubagentFrame, lineage: LifecycleEventInput["lineage"], reading: FrameReading) {
    this.#frame = frame;
    this.#lineage = lineage;
    this.#reading = reading;
  }

  enters(state: State, more: Readonly<Record<string, unknown>> = {}): void {
    this.#add(state === "created" ? { kind: "created", state } : { kind: "state_changed", state }, state, more);
  }

  ends(state: TerminalState, cause: string | undefined): void {
    const more = cause === undefined ? {} : { cause: redactAndCut(cause, MAX_DETAIL_TEXT_LENGTH) };
    this.#add({ kind: "terminal", state }, "end", more);
  }

  isActive(activity: string, tool?: string): void {
    const more = tool === undefined ? {} : { tool: redactAndCut(tool, MAX_DETAIL_TEXT_LENGTH) };
    this.#add({ kind: "activity", activity }, "activity", more);
  }

  #add(
    what: Pick<LifecycleEventInput, "kind" | "state" | "activity">,
    part: string,
    more: Readonly<Record<string, unknown>>,
  ): void {
    const { source, sourceEpoch, frameId, observedAt, capabilities, policy } = this.#reading;
    const { facts, sessionId } = this.#frame;
    this.events.push({
      schemaVersion: 1,
      eventId: `${frameId}:${part}`,
      source,
      sourceEpoch,
      childId: facts.childId,
      lineage: this.#lineage,
      observedAt: formatTimestamp(observedAt),
      capabilities,
      details: { ...subagentDetails(facts, policy, sessionId), ...more },
      ...what,
    });
  }
}
