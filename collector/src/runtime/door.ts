import { type Diagnostic, isJsonObject, normalizeSnapshot, type ToleratedAttributes } from "@agent-lifecycle/proto";
import type { FoldResult } from "../core/index.ts";
import { type Arrival, admit } from "./arrival.ts";
import type { SnapshotAuthorities } from "./authorities.ts";
import type { Clock } from "./clock.ts";
import {
  type EventOutcome,
  type EventsIntake,
  type Intake,
  type Origin,
  type Refusal,
  refusedFor,
  type SnapshotIntake,
} from "./intake.ts";
import type { PipelineTelemetry } from "./telemetry.ts";
import type { VisibilityLedger } from "./visibility-ledger.ts";
import type { Writer } from "./writer.ts";

export interface DoorParts {
  readonly writer: Writer;
  readonly clock: Clock;
  readonly telemetry: PipelineTelemetry;
  /** Without it, whoever may speak for a source may state snapshots of it. */
  readonly authorities?: SnapshotAuthorities;
  /** Compares what is seen of sources with what they declared. */
  readonly visibility?: Pick<VisibilityLedger, "observe">;
}

/** The door in front of the writer: normalizes, redacts and stamps what arrives, and answers when it is durable. */
export class Door implements Intake {
  readonly #parts: DoorParts;

  constructor(parts: DoorParts) {
    this.#parts = parts;
  }

  whenReady(): Promise<void> {
    return this.#parts.writer.whenReady();
  }

  acceptEvents(candidates: readonly unknown[], origin: Origin): Promise<EventsIntake> {
    const refusal = this.#refusal(origin);
    if (refusal !== undefined) return Promise.resolve(refusal);
    const receivedAt = this.#parts.clock.wallNow();
    const arrivals = candidates.map((candidate) => allowed(admit(candidate), origin));
    return new Promise((resolve) => {
      this.#parts.writer.enqueue({
        weight: arrivals.length,
        bytes: origin.bytes,
        receiver: origin.receiver,
        run: (commit) => {
          const outcomes = arrivals.map((arrival) => commit.foldArrival(arrival, origin, receivedAt));
          return () => {
            this.#countOutcomes(origin.receiver, outcomes);
            this.#lookAt(arrivals, outcomes, receivedAt);
            resolve({ kind: "stored", outcomes });
          };
        },
        refuse: resolve,
      });
    });
  }

  acceptSnapshot(candidate: unknown, origin: Origin): Promise<SnapshotIntake> {
    const refusal = this.#refusal(origin);
    if (refusal !== undefined) return Promise.resolve(refusal);
    const receivedAt = this.#parts.clock.wallNow();
    const normalized = normalizeSnapshot(candidate);
    if (!normalized.ok) {
      const { diagnostic } = normalized;
      this.reportProblem(origin.receiver, diagnostic);
      this.#rejected(isJsonObject(candidate) ? candidate["source"] : undefined, origin, diagnostic);
      return Promise.resolve({
        kind: "stored",
        status: "rejected",
        diagnostics: [diagnostic],
        corrected: 0,
        stale: [],
      });
    }
    const { snapshot, diagnostics } = normalized;
    const refused = this.#objectionTo(snapshot.source, origin);
    if (refused !== undefined) {
      this.reportProblem(origin.receiver, refused);
      return Promise.resolve({ kind: "stored", status: "rejected", diagnostics: [refused], corrected: 0, stale: [] });
    }
    return new Promise((resolve) => {
      this.#parts.writer.enqueue({
        weight: 1 + snapshot.children.length,
        bytes: origin.bytes,
        receiver: origin.receiver,
        run: (commit) => {
          const result = commit.foldSnapshot(snapshot, diagnostics, origin, receivedAt);
          return () => {
            if (result.status === "rejected") this.#rejected(snapshot.source, origin, result.diagnostics[0]);
            else this.#parts.authorities?.stored(snapshot, origin, result.status);
            resolve(answerOf(result, diagnostics));
          };
        },
        refuse: resolve,
      });
    });
  }

  countForeign(receiver: string, records: number): void {
    this.#parts.telemetry.countForeign(receiver, records);
  }

  countTolerated(receiver: string, tolerated: ToleratedAttributes): void {
    this.#parts.telemetry.countTolerated(receiver, tolerated);
  }

  reportProblem(receiver: string, diagnostic: Diagnostic): void {
    const { writer, clock } = this.#parts;
    const at = clock.wallNow();
    if (writer.refusal(0)?.kind === "unavailable") return;
    writer.enqueue({
      weight: 1,
      bytes: 0,
      receiver,
      run: (commit) => {
        commit.appendDiagnostic({ at, receiver, diagnostic });
        return () => {};
      },
      refuse: () => {},
    });
  }

  #objectionTo(source: string, origin: Origin): Diagnostic | undefined {
    if (origin.allowedSources?.has(source) === false) return sourceNotAllowed(source);
    const text = this.#parts.authorities?.objectionTo(source, origin);
    return text === undefined ? undefined : { code: "source_not_allowed", path: "source", text };
  }

  #rejected(source: unknown, origin: Origin, why: Diagnostic | undefined): void {
    if (typeof source !== "string" || origin.allowedSources?.has(source) === false) return;
    this.#parts.authorities?.rejected(source, origin, why);
  }

  #refusal({ bytes, receiver }: Origin): Refusal | undefined {
    const { writer, telemetry } = this.#parts;
    const refusal = writer.refusal(bytes);
    if (refusal !== undefined) telemetry.countRefusal(receiver, refusal.kind);
    return refusal;
  }

  /** New evidence alone: what was known already has been looked at. */
  #lookAt(arrivals: readonly Arrival[], outcomes: readonly EventOutcome[], receivedAt: number): void {
    const { visibility } = this.#parts;
    if (visibility === undefined) return;
    for (const [index, arrival] of arrivals.entries()) {
      const status = outcomes[index]?.status;
      if (arrival.valid && status !== "deduplicated" && status !== "rejected") {
        visibility.observe(arrival.event, receivedAt);
      }
    }
  }

  #countOutcomes(receiver: string, outcomes: readonly EventOutcome[]): void {
    const counts = new Map<EventOutcome["status"], number>();
    for (const { status } of outcomes) counts.set(status, (counts.get(status) ?? 0) + 1);
    const { telemetry } = this.#parts;
    for (const [status, events] of counts) telemetry.countEvents(receiver, status, events);
    const refused = outcomes.filter((outcome) => refusedFor(outcome) !== undefined).length;
    telemetry.countRecords(receiver, outcomes.length - refused, refused);
  }
}

/** A token that speaks for some sources cannot make up evidence about the others. */
function allowed(arrival: Arrival, { allowedSources }: Origin): Arrival {
  if (allowedSources === undefined || !arrival.valid || allowedSources.has(arrival.event.source)) return arrival;
  const { source, childId } = arrival.event;
  return { valid: false, diagnostic: sourceNotAllowed(source), source, childId };
}

function sourceNotAllowed(source: string): Diagnostic {
  return { code: "source_not_allowed", path: "source", text: `the sender may not speak for ${source}` };
}

function answerOf(result: FoldResult, noted: readonly Diagnostic[]): SnapshotIntake {
  const corrections = result.audit.filter((entry) => entry.reason === "authoritative_snapshot" && entry.from !== null);
  const becameStale = result.changes.filter(({ before, after }) => !before?.stale && after.stale);
  return {
    kind: "stored",
    status: result.status,
    diagnostics: [...result.diagnostics, ...noted],
    corrected: corrections.length,
    stale: becameStale.map(({ after }) => after.childId),
  };
}
