import { type Diagnostic, isJsonObject, normalizeEvent, normalizeSnapshot } from "@agent-lifecycle/proto";
import {
  type AuditEntry,
  type ChildChange,
  type ChildRecord,
  childOf,
  childrenOf,
  createProjection,
  type FoldResult,
  fold,
  IdentityMemory,
  isProvisional,
  Liveness,
  type Projection,
  type ProjectionInput,
} from "../core/index.ts";
import { type Mismatch, mismatchesOf } from "./mismatch.ts";
import type { Vector, VectorOptions, VectorStep } from "./vector.ts";

/** Runs one vector against the real projection. Pure: the same vector gives the same answer. */
export function runVector(vector: Vector): readonly Mismatch[] {
  const run = new VectorRun(vector.options);
  const mismatches = vector.steps.flatMap((step, index) => run.take(step, `step ${index + 1}: ${step.kind}`));
  return [...mismatches, ...run.compareFinal(vector)];
}

/** What a step did, in the terms of its expectation. */
interface Outcome {
  readonly status?: FoldResult["status"];
  readonly diagnostics: readonly (Diagnostic | FoldResult["diagnostics"][number])[];
  readonly changes: readonly ChildChange[];
  readonly audit: readonly AuditEntry[];
  /** The child that an event or a reconciliation is about, where it is known. */
  readonly subject?: { readonly source: string; readonly childId: string };
}

class VectorRun {
  readonly #options: VectorOptions;
  readonly #projection: Projection = createProjection();
  readonly #liveness: Liveness;
  readonly #identities = new IdentityMemory();

  constructor(options: VectorOptions) {
    this.#options = options;
    this.#liveness = new Liveness(() => options);
  }

  take(step: VectorStep, where: string): readonly Mismatch[] {
    const outcome = this.#perform(step);
    const { expect } = step;
    const path = outcome.diagnostics.flatMap((diagnostic) => ("path" in diagnostic ? [diagnostic.path] : []))[0];
    return mismatchesOf(
      where,
      {
        status: expect.status,
        diagnostics: expect.diagnostics,
        stale: expect.stale.toSorted(),
        ...(expect.path === undefined ? undefined : { path: expect.path }),
        ...(expect.state === undefined ? undefined : { state: expect.state }),
        ...(expect.audit === undefined ? undefined : { audit: expect.audit }),
      },
      {
        status: outcome.status,
        diagnostics: outcome.diagnostics.map(({ code }) => code),
        stale: becameStale(outcome.changes).toSorted(),
        ...(expect.path === undefined ? undefined : { path }),
        ...(expect.state === undefined ? undefined : { state: this.#stateOf(outcome.subject) }),
        ...(expect.audit === undefined
          ? undefined
          : { audit: outcome.audit.map(({ childId, from, to }) => ({ childId, from, to })) }),
      },
    );
  }

  /** The records that have a state must be the listed ones, member by member. */
  compareFinal({ final }: Vector): readonly Mismatch[] {
    const expected = new Map(final.map((record) => [JSON.stringify([record.source, record.childId]), record]));
    const actual = new Map(
      [...childrenOf(this.#projection)]
        .filter((record) => record.state !== undefined)
        .map((record) => [JSON.stringify([record.source, record.childId]), describe(record)]),
    );
    return [...new Set([...expected.keys(), ...actual.keys()])].flatMap((key) =>
      mismatchesOf(`final ${key}`, { ...expected.get(key) }, { ...actual.get(key) }),
    );
  }

  #perform(step: VectorStep): Outcome {
    switch (step.kind) {
      case "event":
        return this.#receiveEvent(step.event, step.receivedAt, step.backfill);
      case "snapshot":
        return this.#receiveSnapshot(step.snapshot, step.receivedAt);
      case "tick":
        return this.#tick(step.at);
      case "resumed":
        return withoutStatus([this.#fold({ type: "resumed", at: step.at })]);
      case "reconciliation": {
        const { source, childId, outcome, at } = step;
        const result = this.#fold({ type: "reconciliation", source, childId, outcome, at });
        return { ...result, subject: { source, childId } };
      }
    }
  }

  #receiveEvent(raw: unknown, receivedAt: number, backfill: boolean): Outcome {
    const normalized = normalizeEvent(raw);
    if (!normalized.ok) return { ...REFUSED, diagnostics: [normalized.diagnostic], ...subjectOf(raw) };
    const { event } = normalized;
    const identity = this.#identities.answer(childOf(this.#projection, event.source, event.childId), event);
    const result = this.#fold({ type: "event", event, receivedAt, backfill, identity });
    this.#identities.remember(event, result);
    return { ...result, diagnostics: [...normalized.diagnostics, ...result.diagnostics], subject: event };
  }

  #receiveSnapshot(raw: unknown, receivedAt: number): Outcome {
    const normalized = normalizeSnapshot(raw);
    if (!normalized.ok) return { ...REFUSED, diagnostics: [normalized.diagnostic] };
    const { snapshot } = normalized;
    const identity = this.#identities.answerSnapshot(snapshot);
    const result = this.#fold({ type: "snapshot", snapshot, receivedAt, identity, policy: this.#options });
    this.#identities.rememberSnapshot(snapshot);
    return { ...result, diagnostics: [...normalized.diagnostics, ...result.diagnostics] };
  }

  #tick(now: number): Outcome {
    return withoutStatus(this.#liveness.expire(now).map((verdict) => this.#fold(verdict)));
  }

  #fold(input: ProjectionInput): FoldResult {
    const result = fold(this.#projection, input);
    for (const change of result.changes) this.#liveness.observe(change);
    return result;
  }

  #stateOf(subject: Outcome["subject"]): string | null {
    if (subject === undefined) return null;
    return childOf(this.#projection, subject.source, subject.childId)?.state ?? null;
  }
}

const REFUSED = { status: "rejected", changes: [], audit: [] } as const;

/** Of a refused event, the child it names, if its names are names at all. */
function subjectOf(raw: unknown): { readonly subject?: { readonly source: string; readonly childId: string } } {
  if (!isJsonObject(raw)) return {};
  const { source, childId } = raw;
  return typeof source === "string" && typeof childId === "string" ? { subject: { source, childId } } : {};
}

function withoutStatus(results: readonly FoldResult[]): Outcome {
  return {
    diagnostics: results.flatMap(({ diagnostics }) => diagnostics),
    changes: results.flatMap(({ changes }) => changes),
    audit: results.flatMap(({ audit }) => audit),
  };
}

function becameStale(changes: readonly ChildChange[]): readonly string[] {
  return changes
    .filter(({ before, after }) => before?.stale === undefined && after.stale !== undefined)
    .map(({ after }) => after.childId);
}

/** A record in the terms of `ExpectedRecord`. */
function describe(record: ChildRecord): Readonly<Record<string, unknown>> {
  const { source, childId, state, history, highestSequence, gaps, activity, conflicts, corrections } = record;
  return {
    source,
    childId,
    state,
    stale: record.stale !== undefined,
    provisional: isProvisional(record),
    history,
    highestSequence,
    gaps,
    activity,
    conflicts,
    corrections,
    terminalEvidence: record.terminalEvidence,
  };
}
