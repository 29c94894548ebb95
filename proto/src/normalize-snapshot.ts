import { type Capabilities, capabilitiesFrom } from "./capabilities.ts";
import { sanitizeDetails } from "./details.ts";
import type { Diagnostic } from "./diagnostic.ts";
import { validSnapshot } from "./generated/validators.ts";
import { isJsonObject } from "./json.ts";
import { boundActivity, normalizeLineage, type TrimmedLineage, trim, trimLineage } from "./normalize.ts";
import { redactIdentifier } from "./redact.ts";
import type { LifecycleSnapshot, SnapshotEntry } from "./snapshot.ts";
import type { State } from "./state.ts";
import { formatTimestamp, parseTimestamp } from "./timestamp.ts";
import { firstProblem } from "./validator.ts";

export type NormalizedSnapshot =
  | { readonly ok: true; readonly snapshot: LifecycleSnapshot; readonly diagnostics: readonly Diagnostic[] }
  | { readonly ok: false; readonly diagnostic: Diagnostic & { readonly code: "invalid_snapshot" } };

/** Validates a snapshot whole before anything of it is used (A1), and redacts it (N3). Never throws. */
export function normalizeSnapshot(raw: unknown): NormalizedSnapshot {
  if (!isJsonObject(raw)) return invalid("", "a snapshot is a JSON object");
  const candidate = trimSnapshot(raw);
  if (!validSnapshot(candidate)) {
    const { path, text } = firstProblem(validSnapshot);
    return invalid(path, text);
  }
  return finish(candidate as unknown as TrimmedSnapshot);
}

function trimSnapshot(raw: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { coverage, children } = raw;
  return {
    source: trim(raw.source),
    sourceEpoch: trim(raw.sourceEpoch),
    snapshotId: trim(raw.snapshotId),
    observedAt: raw.observedAt,
    complete: raw.complete,
    coverage: Array.isArray(coverage) ? coverage.map(trim) : coverage,
    children: Array.isArray(children) ? children.map(trimEntry) : children,
  };
}

function trimEntry(raw: unknown): unknown {
  if (!isJsonObject(raw)) return raw;
  const entry: Record<string, unknown> = { childId: trim(raw.childId), state: raw.state };
  for (const name of ["sequence", "activity", "details", "capabilities"] as const) {
    if (raw[name] !== undefined && raw[name] !== null) entry[name] = raw[name];
  }
  if (raw.lineage !== undefined && raw.lineage !== null) entry.lineage = trimLineage(raw.lineage);
  return entry;
}

interface TrimmedEntry {
  readonly childId: string;
  readonly state: State;
  readonly sequence?: number;
  readonly activity?: string;
  readonly lineage?: TrimmedLineage;
  readonly capabilities?: Partial<Capabilities>;
  readonly details?: Readonly<Record<string, unknown>>;
}

interface TrimmedSnapshot {
  readonly source: string;
  readonly sourceEpoch: string;
  readonly snapshotId: string;
  readonly observedAt: string;
  readonly complete: boolean;
  readonly coverage: "all" | readonly string[];
  readonly children: readonly TrimmedEntry[];
}

function finish(trimmed: TrimmedSnapshot): NormalizedSnapshot {
  const observedAt = parseTimestamp(trimmed.observedAt);
  if (observedAt === undefined) return invalid("observedAt", "names no real calendar time");
  const covered = trimmed.coverage === "all" ? undefined : new Set(trimmed.coverage);
  const listed = new Set<string>();
  const diagnostics: Diagnostic[] = [];
  const children: SnapshotEntry[] = [];
  for (const [index, entry] of trimmed.children.entries()) {
    if (listed.has(entry.childId)) return invalid(`children.${index}.childId`, "listed twice");
    listed.add(entry.childId);
    if (covered?.has(entry.childId) === false) return invalid(`children.${index}.childId`, "outside the coverage");
    const childId = redactIdentifier(entry.childId);
    const lineage = entry.lineage === undefined ? undefined : normalizeLineage(entry.lineage, entry.childId, childId);
    if (typeof lineage === "string") return invalid(`children.${index}.${lineage}`, "breaks the contract");
    const sanitized = entry.details === undefined ? undefined : sanitizeDetails(entry.details);
    if (sanitized !== undefined) diagnostics.push(...sanitized.diagnostics);
    children.push({
      childId,
      state: entry.state,
      ...(entry.sequence === undefined ? undefined : { sequence: entry.sequence }),
      ...(entry.activity === undefined ? undefined : { activity: boundActivity(entry.activity) }),
      ...(lineage === undefined ? undefined : { lineage }),
      ...(entry.capabilities === undefined ? undefined : { capabilities: capabilitiesFrom(entry.capabilities) }),
      ...(sanitized?.details === undefined ? undefined : { details: sanitized.details }),
    });
  }
  const snapshot: LifecycleSnapshot = {
    source: redactIdentifier(trimmed.source),
    sourceEpoch: redactIdentifier(trimmed.sourceEpoch),
    snapshotId: redactIdentifier(trimmed.snapshotId),
    observedAt: formatTimestamp(observedAt),
    complete: trimmed.complete,
    coverage: trimmed.coverage === "all" ? "all" : trimmed.coverage.map(redactIdentifier),
    children,
  };
  return { ok: true, snapshot, diagnostics };
}

function invalid(path: string, text: string): NormalizedSnapshot {
  return { ok: false, diagnostic: { code: "invalid_snapshot", path, text } };
}
