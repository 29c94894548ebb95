import { type AuditView, type DiagnosticView, formatTimestamp, type InputView } from "@agent-lifecycle/proto";
import type { ProjectionInput } from "../core/index.ts";
import type { ProjectionReader } from "../runtime/projection-reader.ts";

type StoredInput = ReturnType<ProjectionReader["inputsOfChild"]>[number];
type StoredAudit = ReturnType<ProjectionReader["audit"]>[number];
type StoredDiagnostic = ReturnType<ProjectionReader["diagnostics"]>[number];

export function inputViewOf({ inputId, input, status, diagnostic }: StoredInput): InputView {
  return {
    inputId,
    type: input.type,
    at: formatTimestamp(timeOf(input)),
    backfill: input.type === "event" && input.backfill,
    status,
    diagnostic: diagnostic ?? null,
    event: input.type === "event" ? input.event : null,
  };
}

function timeOf(input: ProjectionInput): number {
  switch (input.type) {
    case "event":
    case "snapshot":
      return input.receivedAt;
    case "stale":
    case "reconciliation":
    case "resumed":
      return input.at;
  }
}

export function auditViewOf({ inputId, entry }: StoredAudit): AuditView {
  const { reason, source, childId, from, to, at } = entry;
  const snapshotId = entry.reason === "authoritative_snapshot" ? entry.snapshotId : null;
  return { inputId, reason, source, childId, from, to, at: formatTimestamp(at), snapshotId };
}

export function diagnosticViewOf(stored: StoredDiagnostic): DiagnosticView {
  const { id, at, receiver, diagnostic, source, childId } = stored;
  return {
    id,
    at: formatTimestamp(at),
    receiver,
    source: source ?? null,
    childId: childId ?? null,
    ...diagnostic,
  };
}
