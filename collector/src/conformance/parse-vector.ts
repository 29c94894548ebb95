import { DIAGNOSTIC_CODES, STATES } from "@agent-lifecycle/proto";
import { INPUT_STATUSES } from "../core/index.ts";
import { MemberReader } from "./member-reader.ts";
import type { Expectation, ExpectedAudit, ExpectedRecord, Vector, VectorOptions, VectorStep } from "./vector.ts";

export type ParsedVector =
  | { readonly ok: true; readonly vector: Vector }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads a vector whole. Whatever it does not understand is a problem, never skipped. */
export function parseVector(raw: unknown): ParsedVector {
  const problems: string[] = [];
  const reader = new MemberReader(raw, "vector", problems);
  const vector: Vector = {
    name: reader.text("name"),
    rule: reader.text("rule"),
    options: reader.object("options", readOptions),
    steps: reader.objects("steps", readStep),
    final: reader.objects("final", readRecord),
  };
  const names = new Set(vector.final.map(({ source, childId }) => JSON.stringify([source, childId])));
  if (names.size < vector.final.length) reader.reject("final lists a child twice");
  reader.finish();
  return problems.length === 0 ? { ok: true, vector } : { ok: false, problems };
}

function readOptions(reader: MemberReader): VectorOptions {
  return {
    staleAfterMs: reader.count("staleAfterMs"),
    reconcileDeadlineMs: reader.count("reconcileDeadlineMs"),
    missingGrace: reader.count("missingGrace"),
  };
}

const STEP_KINDS = ["event", "snapshot", "tick", "resumed", "reconciliation"] as const;

function readStep(reader: MemberReader): VectorStep {
  const kinds = STEP_KINDS.filter((kind) => reader.has(kind));
  const [kind = "event"] = kinds;
  if (kinds.length !== 1) reader.reject(`must have exactly one of ${STEP_KINDS.join(", ")}`);
  switch (kind) {
    case "event":
      return {
        kind,
        event: reader.raw("event"),
        receivedAt: reader.time("receivedAt"),
        backfill: reader.has("backfill") && reader.flag("backfill"),
        expect: reader.object("expect", readChildExpectation),
      };
    case "snapshot":
      return {
        kind,
        snapshot: reader.raw("snapshot"),
        receivedAt: reader.time("receivedAt"),
        expect: reader.object("expect", readSnapshotExpectation),
      };
    case "tick":
      return { kind, at: reader.time("tick"), expect: reader.object("expect", readTickExpectation) };
    case "resumed":
      return { kind, at: reader.time("resumed"), expect: reader.object("expect", () => NOTHING_VISIBLE) };
    case "reconciliation":
      return {
        kind,
        ...reader.object("reconciliation", (verdict) => ({
          source: verdict.text("source"),
          childId: verdict.text("childId"),
          outcome: verdict.oneOf("outcome", ["failed", "unavailable"]),
          at: verdict.time("at"),
        })),
        expect: reader.object("expect", readChildExpectation),
      };
  }
}

const NOTHING_VISIBLE: Expectation = { diagnostics: [], stale: [] };

/** Of events and reconciliations: they concern one child, with one diagnostic at most. */
function readChildExpectation(reader: MemberReader): Expectation {
  return {
    status: reader.oneOf("status", INPUT_STATUSES),
    diagnostics: reader.has("diagnostic") ? [reader.oneOf("diagnostic", DIAGNOSTIC_CODES)] : [],
    ...(reader.has("path") ? { path: reader.text("path") } : undefined),
    ...(reader.has("state") ? { state: reader.oneOf("state", [...STATES, null]) } : undefined),
    ...(reader.has("audit") ? { audit: reader.objects("audit", readAudit) } : undefined),
    stale: [],
  };
}

function readSnapshotExpectation(reader: MemberReader): Expectation {
  return {
    status: reader.oneOf("status", INPUT_STATUSES),
    diagnostics: reader.eachOneOf("diagnostics", DIAGNOSTIC_CODES),
    ...(reader.has("audit") ? { audit: reader.objects("audit", readAudit) } : undefined),
    stale: reader.has("stale") ? reader.texts("stale") : [],
  };
}

function readTickExpectation(reader: MemberReader): Expectation {
  return { diagnostics: [], stale: reader.texts("stale") };
}

function readAudit(reader: MemberReader): ExpectedAudit {
  return {
    childId: reader.text("childId"),
    from: reader.has("from") && reader.raw("from") === null ? null : reader.text("from"),
    to: reader.text("to"),
  };
}

function readRecord(reader: MemberReader): ExpectedRecord {
  return {
    source: reader.text("source"),
    childId: reader.text("childId"),
    state: reader.oneOf("state", STATES),
    stale: reader.flag("stale"),
    provisional: reader.flag("provisional"),
    history: reader.oneOf("history", ["complete", "from_adoption", "partial"]),
    ...(reader.has("highestSequence") ? { highestSequence: reader.count("highestSequence") } : undefined),
    gaps: reader.ranges("gaps"),
    ...(reader.has("activity") ? { activity: reader.text("activity") } : undefined),
    conflicts: reader.count("conflicts"),
    corrections: reader.count("corrections"),
    ...(reader.has("terminalEvidence")
      ? {
          terminalEvidence: reader.oneOf("terminalEvidence", [
            "event",
            "authoritative_snapshot",
            "failed_reconciliation",
          ]),
        }
      : undefined),
  };
}
