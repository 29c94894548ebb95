import { type LifecycleEvent, parseTimestamp } from "@agent-lifecycle/proto";
import type { AuditEntry, InputStatus } from "../core/index.ts";
import type { ExportedInput } from "../runtime/exporter.ts";
import { type ChildTimeline, enterState, learn } from "./child-timeline.ts";
import type { ChildUpdate, What } from "./child-update.ts";

/** Where a child's timeline is kept while the log is read. */
export interface TimelineMemory {
  /** The child as it was before this input. */
  before(source: string, childId: string, inputId: number): Promise<ChildTimeline>;
  keep(timeline: ChildTimeline): void;
  /** Forgets all that it holds: what is asked for next is read from what is stored. */
  forget(): void;
}

const ACCEPTED: ReadonlySet<InputStatus> = new Set(["applied", "provisional", "gap_filled"]);

/** What one stored input is for back ends: nothing for a sign of life or a repetition, one update or several for others. */
export async function updatesOf(exported: ExportedInput, memory: TimelineMemory): Promise<readonly ChildUpdate[]> {
  const { input, inputId, status, diagnostic } = exported;
  switch (input.type) {
    case "event":
      return updatesOfEvent(exported, input.event, input.receivedAt, memory);
    case "snapshot": {
      const observedAt = parseTimestamp(input.snapshot.observedAt) ?? input.receivedAt;
      const updates: ChildUpdate[] = [];
      for (const entry of exported.audit) {
        const found = await updateOfAudit(entry, { inputId, at: input.receivedAt, observedAt }, memory);
        if (found !== undefined) updates.push({ ...found, index: updates.length });
      }
      return updates;
    }
    case "stale":
    case "reconciliation": {
      if (status !== "applied") return [];
      const { source, childId, at } = input;
      const [loss] = exported.audit;
      if (loss !== undefined) {
        const found = await updateOfAudit(loss, { inputId, at, observedAt: at }, memory);
        return found === undefined ? [] : [found];
      }
      const timeline = await memory.before(source, childId, inputId);
      const { state } = timeline;
      const what: What =
        input.type === "stale"
          ? { kind: "stale", state, reason: "deadline", since: input.silentSince }
          : { kind: "unanswered", state };
      return [{ ...updateOf(timeline, inputId, at), status, diagnostic, what }];
    }
    case "resumed":
      return [];
  }
}

async function updatesOfEvent(
  { inputId, status, diagnostic, audit }: ExportedInput,
  event: LifecycleEvent,
  at: number,
  memory: TimelineMemory,
): Promise<readonly ChildUpdate[]> {
  const { source, childId, state, details, lineage, sourceEpoch } = event;
  const plain = { inputId, index: 0, at, source, childId, lineage, epoch: sourceEpoch, status, diagnostic };
  if (status === "deduplicated") return [];
  if (!ACCEPTED.has(status)) return [{ ...plain, name: details?.name, what: { kind: "objection", event } }];
  const updates: Omit<ChildUpdate, "index">[] = [];
  for (const entry of audit) {
    if (entry.reason !== "epoch_changed") continue;
    updates.push({ ...plain, name: details?.name, what: { kind: "epoch", from: entry.from, to: entry.to } });
  }
  if (state !== undefined) {
    const learned = learn(await memory.before(source, childId, inputId), event);
    const observedAt = parseTimestamp(event.observedAt) ?? at;
    const entered = enterState(learned, state, observedAt, {
      evidence: "event",
      isProvisional: status === "provisional",
    });
    memory.keep(entered?.timeline ?? learned);
    if (entered !== undefined) {
      const { transition } = entered;
      updates.push({ ...plain, name: learned.name, what: { kind: "state", transition, event } });
    }
  } else if (event.kind !== "heartbeat") {
    updates.push({ ...plain, name: details?.name, what: { kind: "activity", event } });
  }
  return updates.map((update, index) => ({ ...update, index }));
}

interface AuditedInput {
  readonly inputId: number;
  readonly at: number;
  readonly observedAt: number;
}

async function updateOfAudit(
  entry: AuditEntry,
  { inputId, at, observedAt }: AuditedInput,
  memory: TimelineMemory,
): Promise<ChildUpdate | undefined> {
  const timeline = await memory.before(entry.source, entry.childId, inputId);
  const status: InputStatus = "applied";
  if (entry.reason === "epoch_changed") {
    memory.keep({ ...timeline, epoch: entry.to });
    const what: What = { kind: "epoch", from: entry.from, to: entry.to };
    return { ...updateOf(timeline, inputId, at), epoch: entry.to, status, diagnostic: undefined, what };
  }
  const entered = enterAudited(timeline, entry, observedAt);
  if (entered === undefined) return undefined;
  memory.keep(entered.timeline);
  const { transition } = entered;
  const what: What =
    entry.reason === "failed_reconciliation"
      ? { kind: "loss", transition }
      : { kind: "correction", transition, snapshotId: entry.snapshotId };
  return { ...updateOf(timeline, inputId, at), status, diagnostic: undefined, what };
}

/** The state that an audit entry tells of. */
export function enterAudited(
  timeline: ChildTimeline,
  entry: Exclude<AuditEntry, { readonly reason: "epoch_changed" }>,
  observedAt: number,
): ReturnType<typeof enterState> {
  return enterState(timeline, entry.to, observedAt, { evidence: entry.reason, isProvisional: false });
}

function updateOf(
  { source, childId, lineage, epoch, name }: ChildTimeline,
  inputId: number,
  at: number,
): Omit<ChildUpdate, "status" | "diagnostic" | "what"> {
  return { inputId, index: 0, at, source, childId, lineage, epoch, name };
}
