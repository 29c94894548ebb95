import {
  type Diagnostic,
  formatTimestamp,
  isTerminal,
  type LifecycleSnapshot,
  parseTimestamp,
} from "@agent-lifecycle/proto";
import {
  type ChildRecord,
  childOf,
  type FoldResult,
  fold,
  identityQuestion,
  type ProjectionInput,
  type SnapshotPolicy,
  snapshotIdentityQuestion,
} from "../core/index.ts";
import type { AppendedInput, Store, StoredDiagnostic } from "../store/store.ts";
import type { Arrival, EventArrival } from "./arrival.ts";
import type { EventOutcome, Origin } from "./intake.ts";
import { type ProjectionState, visibleChanges } from "./projection-state.ts";
import type { PipelineTelemetry } from "./telemetry.ts";
import type { ProjectionUpdate } from "./update-feed.ts";

export interface CommitParts {
  readonly store: Store;
  readonly state: ProjectionState;
  readonly telemetry: PipelineTelemetry;
  /** The policy stamped on a snapshot of this source. */
  readonly snapshotPolicyOf: (source: string) => SnapshotPolicy;
  /** Diagnostics that are kept; the oldest go. Default 10,000. */
  readonly maxDiagnostics?: number;
}

const DEFAULT_MAX_DIAGNOSTICS = 10_000;
/** Diagnostics stored by one commit; further ones are only counted, so that a flood of bad input stays cheap. */
const MAX_DIAGNOSTICS_PER_COMMIT = 200;

/**
 * What goes into one transaction: inputs are folded, and appended with what became of them. Until the transaction is
 * committed nothing of it is true; `undo` takes the folds back.
 */
export class Commit {
  readonly #parts: CommitParts;
  readonly #folds: { readonly input: ProjectionInput; readonly result: FoldResult }[] = [];
  readonly #updates: ProjectionUpdate[] = [];
  readonly #diagnosticCodes: Diagnostic["code"][] = [];
  readonly #verdicts: ("stale" | "lost" | "unavailable")[] = [];

  constructor(parts: CommitParts) {
    this.#parts = parts;
  }

  /** One for each stored input, in order. */
  get updates(): readonly ProjectionUpdate[] {
    return this.#updates;
  }

  /** Lets the projection's bookkeeping and the counters take note, now that everything is durable. */
  accept(onFolded: (result: FoldResult) => void): void {
    const { state, telemetry } = this.#parts;
    for (const [index, { input, result }] of this.#folds.entries()) {
      state.accept((this.#updates[index] as ProjectionUpdate).inputId, input, result);
      onFolded(result);
    }
    state.releaseRecalled();
    for (const code of this.#diagnosticCodes) telemetry.countDiagnostic(code);
    for (const outcome of this.#verdicts) telemetry.countVerdict(outcome);
  }

  undo(): void {
    this.#parts.state.undo(this.#folds.map(({ result }) => result));
  }

  foldArrival(arrival: Arrival, { receiver, backfill }: Origin, receivedAt: number): EventOutcome {
    if (!arrival.valid) {
      const { diagnostic, source, childId } = arrival;
      this.appendDiagnostic({ at: receivedAt, receiver, diagnostic, ...about(source, childId) });
      return { status: "rejected", diagnostics: [diagnostic] };
    }
    const { source, childId } = arrival.event;
    const known = this.#parts.state.recallChild(source, childId);
    const refusal = known === undefined ? this.#beyondRetention(arrival.event.observedAt) : undefined;
    if (refusal !== undefined) {
      this.appendDiagnostic({ at: receivedAt, receiver, diagnostic: refusal, source, childId });
      return { status: "rejected", diagnostics: [refusal] };
    }
    const result = this.#foldEvent(known, arrival, backfill, receivedAt);
    const folded = result.diagnostics.map(({ code }): Diagnostic => ({ code }));
    const diagnostics = folded.length === 0 ? arrival.diagnostics : [...folded, ...arrival.diagnostics];
    for (const diagnostic of diagnostics) {
      this.appendDiagnostic({ at: receivedAt, receiver, diagnostic, source, childId });
    }
    return { status: result.status, diagnostics };
  }

  #foldEvent(
    known: ChildRecord | undefined,
    { event, canonicalContent }: EventArrival,
    backfill: boolean,
    receivedAt: number,
  ): FoldResult {
    const { store, state } = this.#parts;
    const question = identityQuestion(known, event);
    const identity = question === undefined ? "new" : store.answerIdentity(question, canonicalContent);
    const input: ProjectionInput = { type: "event", event, receivedAt, backfill, identity };
    const result = fold(state.projection, input);
    // A duplicate changed nothing, and would change nothing on a replay.
    if (result.status !== "deduplicated") {
      this.#append(input, result, (result.changes[0]?.after ?? known)?.key, { canonicalContent });
    }
    return result;
  }

  /**
   * Why something that was observed before the log begins is refused: what would show it to be a resent copy, or the
   * child to have ended, is not stored any more. `undefined` when the log reaches back that far.
   */
  #beyondRetention(observedAt: string): Diagnostic | undefined {
    const { logBeginsAt } = this.#parts.state;
    if (logBeginsAt === undefined || (parseTimestamp(observedAt) ?? logBeginsAt) >= logBeginsAt) return undefined;
    const text = `observed before ${formatTimestamp(logBeginsAt)}, where the stored log begins`;
    return { code: "beyond_retention", path: "observedAt", text };
  }

  /** @param noted what the door tolerated in it */
  foldSnapshot(
    snapshot: LifecycleSnapshot,
    noted: readonly Diagnostic[],
    { receiver }: Origin,
    receivedAt: number,
  ): FoldResult {
    const { store, state, snapshotPolicyOf } = this.#parts;
    // A2: the identifier alone decides, whatever the snapshot says.
    const identity = store.answerIdentity(snapshotIdentityQuestion(snapshot), "") === "new" ? "new" : "same";
    const refusal = identity === "new" ? this.#beyondRetention(snapshot.observedAt) : undefined;
    if (refusal !== undefined) {
      this.appendDiagnostic({ at: receivedAt, receiver, diagnostic: refusal, source: snapshot.source });
      return { status: "rejected", diagnostics: [{ code: refusal.code, childId: "" }], changes: [], audit: [] };
    }
    const policy = snapshotPolicyOf(snapshot.source);
    const input: ProjectionInput = { type: "snapshot", snapshot, receivedAt, identity, policy };
    state.recall(input);
    const result = fold(state.projection, input);
    if (result.status !== "deduplicated") {
      const listedEnded = snapshot.children
        .map(({ childId }) => childId)
        .filter((childId) => isTerminal(childOf(state.projection, snapshot.source, childId)?.state));
      this.#append(input, result, undefined, { listedEnded });
    }
    for (const diagnostic of result.status === "deduplicated" ? [] : noted) {
      this.appendDiagnostic({ at: receivedAt, receiver, diagnostic, source: snapshot.source });
    }
    for (const { code, childId } of result.diagnostics) {
      const subject = about(snapshot.source, childId === "" ? undefined : childId);
      this.appendDiagnostic({ at: receivedAt, receiver, diagnostic: { code }, ...subject });
    }
    return result;
  }

  /**
   * A verdict that evidence overtook changes nothing, and is not stored.
   * @param isProbe store it all the same, to find out whether the store takes writes again
   */
  foldVerdict(verdict: ProjectionInput, isProbe: boolean): void {
    const { state } = this.#parts;
    state.recall(verdict);
    const result = fold(state.projection, verdict);
    if (result.changes.length === 0 && !isProbe) return;
    const isAboutOne = verdict.type === "stale" || verdict.type === "reconciliation";
    const child = isAboutOne ? childOf(state.projection, verdict.source, verdict.childId) : undefined;
    this.#append(verdict, result, child?.key);
    if (verdict.type === "stale") this.#verdicts.push("stale");
    if (verdict.type === "reconciliation") this.#verdicts.push(verdict.outcome === "failed" ? "lost" : "unavailable");
  }

  appendDiagnostic(diagnostic: StoredDiagnostic): void {
    const { store } = this.#parts;
    this.#diagnosticCodes.push(diagnostic.diagnostic.code);
    if (this.#diagnosticCodes.length > MAX_DIAGNOSTICS_PER_COMMIT) return;
    store.appendDiagnostic(diagnostic);
    if (this.#diagnosticCodes.length === 1)
      store.trimDiagnostics(this.#parts.maxDiagnostics ?? DEFAULT_MAX_DIAGNOSTICS);
  }

  #append(
    input: ProjectionInput,
    result: FoldResult,
    childKey: number | undefined,
    more: Pick<AppendedInput, "canonicalContent" | "listedEnded"> = {},
  ): void {
    const { store } = this.#parts;
    this.#folds.push({ input, result });
    const inputId = store.append({
      input,
      childKey,
      status: result.status,
      diagnostic: result.diagnostics[0]?.code,
      ...more,
    });
    if (result.audit.length > 0) {
      const keys = new Map(result.changes.map(({ after }) => [after.childId, after.key]));
      for (const entry of result.audit) store.appendAudit(inputId, keys.get(entry.childId) as number, entry);
    }
    this.#updates.push({ inputId, changes: visibleChanges(input, result), audit: result.audit });
  }
}

function about(source: string | undefined, childId: string | undefined): { source?: string; childId?: string } {
  return { ...(source === undefined ? undefined : { source }), ...(childId === undefined ? undefined : { childId }) };
}
