import { formatTimestamp, isTerminal } from "@agent-lifecycle/proto";
import type { AuditEntry, ChildRecord } from "../core/index.ts";
import type {
  ActivityTick,
  StaleInterval,
  StateInterval,
  TimelineEntry,
  TimelineMark,
} from "../display/timeline-view.ts";
import type { ProjectionReader } from "../runtime/projection-reader.ts";

/** Of each child: the oldest inputs that are looked at, and the newest activities that are shown. */
const MAX_INPUTS = 2_000;
const MAX_ACTIVITIES = 300;
const MAX_MARKS = 300;

type StoredInput = ReturnType<ProjectionReader["inputsOfChild"]>[number];
type Step =
  | { readonly inputId: number; readonly input: StoredInput }
  | { readonly inputId: number; readonly audit: AuditEntry };

type Mutable<Type> = { -readonly [Member in keyof Type]: Type[Member] };

/** How a child's record came to be, from what is stored about it and from what became of each input. */
export function childTimeline(reader: ProjectionReader, record: ChildRecord): TimelineEntry {
  const inputs = reader.inputsOfChild(record.key, 0, MAX_INPUTS + 1);
  const audit = reader.audit({ childKey: record.key, afterInputId: 0, limit: MAX_INPUTS });
  const drawing = new Drawing();
  const steps: readonly Step[] = [
    ...inputs.slice(0, MAX_INPUTS).map((input) => ({ inputId: input.inputId, input })),
    ...audit.map(({ inputId, entry }) => ({ inputId, audit: entry })),
  ].toSorted((one, other) => one.inputId - other.inputId);
  for (const step of steps) {
    if ("input" in step) drawing.takeInput(step.input);
    else drawing.takeAudit(step.audit);
  }
  drawing.finish(record);
  return {
    source: record.source,
    childId: record.childId,
    name: record.facts?.name ?? null,
    lineage: record.lineage,
    firstObservedAt: formatTimestamp(record.firstObservedAt),
    intervals: drawing.intervals,
    stale: drawing.stale,
    activities: drawing.activities.slice(-MAX_ACTIVITIES),
    marks: drawing.marks.slice(-MAX_MARKS),
    isCut: inputs.length > MAX_INPUTS || drawing.activities.length > MAX_ACTIVITIES || drawing.marks.length > MAX_MARKS,
  };
}

class Drawing {
  readonly intervals: Mutable<StateInterval>[] = [];
  readonly stale: Mutable<StaleInterval>[] = [];
  readonly activities: ActivityTick[] = [];
  readonly marks: TimelineMark[] = [];

  takeInput(stored: StoredInput): void {
    const { input } = stored;
    if (input.type === "stale" && stored.status === "applied") {
      this.stale.push({ from: formatTimestamp(input.at), to: null, reason: "deadline" });
    }
    if (input.type === "event") this.#takeEvent(stored, input);
  }

  takeAudit(entry: AuditEntry): void {
    const at = formatTimestamp(entry.at);
    const change = `${entry.from ?? "unknown"} → ${entry.to}`;
    if (entry.reason === "epoch_changed") {
      this.marks.push({ at, recordedAt: at, kind: "epoch_changed", text: change });
      return;
    }
    if (entry.reason === "authoritative_snapshot") {
      this.marks.push({ at, recordedAt: at, kind: "correction", text: change });
      this.#endStale(at);
    }
    this.#begin({
      state: entry.to,
      from: at,
      to: null,
      recordedAt: at,
      by: entry.reason,
      isProvisional: false,
      isInferred: false,
    });
  }

  finish({ state, stale, lastEvidenceAt }: ChildRecord): void {
    const open = this.stale.at(-1);
    if (stale === undefined) {
      if (open?.to === null)
        open.to = isTerminal(state) ? (this.intervals.at(-1)?.recordedAt ?? null) : formatTimestamp(lastEvidenceAt);
    } else if (open?.to !== null) {
      this.stale.push({ from: formatTimestamp(stale.since), to: null, reason: stale.reason });
    }
  }

  #takeEvent(
    { status, diagnostic }: StoredInput,
    { event, receivedAt }: StoredInput["input"] & { readonly type: "event" },
  ): void {
    const times = { at: event.observedAt, recordedAt: formatTimestamp(receivedAt) };
    const isAccepted = status === "applied" || status === "provisional" || status === "gap_filled";
    const claim = event.state ?? event.kind;
    if (!isAccepted) {
      const kind = MARK_OF_STATUS[status];
      if (kind !== undefined) this.marks.push({ ...times, kind, text: `${claim}: ${diagnostic ?? status}` });
      return;
    }
    this.#endStale(times.recordedAt);
    if (status === "provisional") this.marks.push({ ...times, kind: "gap", text: diagnostic ?? "provisional" });
    if (status === "gap_filled") this.marks.push({ ...times, kind: "gap_filled", text: claim });
    if (event.kind === "activity") this.activities.push({ ...times, text: event.activity ?? null });
    if (event.state === undefined) return;
    const isProvisional = status === "provisional";
    const isInferred = event.details?.["inferred"] === true;
    const from = event.observedAt;
    this.#begin({
      state: event.state,
      from,
      to: null,
      recordedAt: times.recordedAt,
      by: "event",
      isProvisional,
      isInferred,
    });
  }

  #begin(interval: StateInterval): void {
    const before = this.intervals.at(-1);
    // A new epoch that says the same state again begins nothing.
    if (before?.state === interval.state) return;
    // Clocks may disagree about which came first; no stretch of time is negative.
    if (before !== undefined) before.to = later(before.from, interval.from);
    this.intervals.push({ ...interval });
  }

  #endStale(at: string): void {
    const open = this.stale.at(-1);
    if (open?.to === null) open.to = at;
  }
}

/** Timestamps are written in one form: they sort as text. */
function later(one: string, other: string): string {
  return [one, other].toSorted().at(-1) ?? one;
}

const MARK_OF_STATUS: Readonly<Partial<Record<StoredInput["status"], TimelineMark["kind"]>>> = {
  out_of_order: "out_of_order",
  terminal_immutable: "late",
  conflict: "conflict",
  rejected: "rejected",
};
