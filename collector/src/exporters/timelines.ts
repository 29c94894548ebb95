import { setImmediate as nextTurn } from "node:timers/promises";
import { isTerminal, parseTimestamp } from "@agent-lifecycle/proto";
import type { InputStatus } from "../core/index.ts";
import type { ChildHistory } from "../runtime/child-history.ts";
import { type ChildTimeline, enterState, learn, timelineOf, unknownChild } from "./child-timeline.ts";
import { enterAudited, type TimelineMemory } from "./derive-updates.ts";

/** Some hundred bytes each: what the memory of one exporter is bounded by, however long its destination is away. */
const MAX_REMEMBERED = 20_000;
const PAGE = 500;
const ACCEPTED: ReadonlySet<InputStatus> = new Set(["applied", "provisional", "gap_filled"]);

/**
 * The timelines of the children that one exporter has read of lately. Of any other child it reads what is stored, up to
 * the input at hand and no further, in pieces: others have their turns in between.
 */
export class Timelines implements TimelineMemory {
  readonly #history: ChildHistory;
  readonly #maxRemembered: number;
  readonly #remembered = new Map<string, ChildTimeline>();

  constructor(history: ChildHistory, maxRemembered: number = MAX_REMEMBERED) {
    this.#history = history;
    this.#maxRemembered = maxRemembered;
  }

  async before(source: string, childId: string, inputId: number): Promise<ChildTimeline> {
    return this.#remembered.get(keyOf(source, childId)) ?? (await this.#read(source, childId, inputId));
  }

  keep(timeline: ChildTimeline): void {
    const key = keyOf(timeline.source, timeline.childId);
    this.#remembered.delete(key);
    // What comes after an end changes nothing, so that nobody asks again.
    if (!isTerminal(timeline.state)) this.#remembered.set(key, timeline);
    if (this.#remembered.size <= this.#maxRemembered) return;
    const [longestAgo] = this.#remembered.keys();
    if (longestAgo !== undefined) this.#remembered.delete(longestAgo);
  }

  /** Nothing is remembered: for a log that is read again from an earlier place. */
  forget(): void {
    this.#remembered.clear();
  }

  async #read(source: string, childId: string, beforeInputId: number): Promise<ChildTimeline> {
    const base = this.#history.base(source, childId);
    let timeline = base === undefined ? unknownChild(source, childId) : timelineOf(base);
    const audited = this.#audited(source, childId, beforeInputId);
    let audit = audited.next();
    for (let afterInputId = 0; ; ) {
      const page = this.#history.inputs(source, childId, afterInputId, PAGE);
      for (const { inputId, input, status } of page) {
        while (!audit.done && audit.value.inputId <= Math.min(inputId, beforeInputId - 1)) {
          timeline = audit.value.apply(timeline);
          audit = audited.next();
        }
        if (inputId >= beforeInputId) return timeline;
        if (input.type === "event" && input.event.state !== undefined && ACCEPTED.has(status)) {
          const learned = learn(timeline, input.event);
          const observedAt = parseTimestamp(input.event.observedAt) ?? input.receivedAt;
          const how = { evidence: "event", isProvisional: status === "provisional" } as const;
          timeline = enterState(learned, input.event.state, observedAt, how)?.timeline ?? learned;
        }
      }
      const last = page.at(-1);
      if (page.length < PAGE || last === undefined) break;
      afterInputId = last.inputId;
      await nextTurn();
    }
    for (; !audit.done; audit = audited.next()) timeline = audit.value.apply(timeline);
    return timeline;
  }

  *#audited(source: string, childId: string, beforeInputId: number): Generator<AuditedChange, undefined> {
    for (let afterInputId = 0; ; ) {
      const page = this.#history.audit(source, childId, afterInputId, PAGE);
      for (const { inputId, entry } of page) {
        if (inputId >= beforeInputId) return undefined;
        afterInputId = inputId;
        // An event says its epoch itself.
        if (entry.reason === "epoch_changed") continue;
        yield {
          inputId,
          apply: (timeline) => {
            const input = this.#history.input(inputId)?.input;
            const observedAt = input?.type === "snapshot" ? parseTimestamp(input.snapshot.observedAt) : undefined;
            return enterAudited(timeline, entry, observedAt ?? entry.at)?.timeline ?? timeline;
          },
        };
      }
      if (page.length < PAGE) return undefined;
    }
  }
}

interface AuditedChange {
  readonly inputId: number;
  apply(timeline: ChildTimeline): ChildTimeline;
}

function keyOf(source: string, childId: string): string {
  return `${source.length}:${source}${childId}`;
}
