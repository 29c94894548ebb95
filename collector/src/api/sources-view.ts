import { type AuthorityView, formatTimestamp, type SourcesView, type SourceView } from "@agent-lifecycle/proto";
import type { AuthorityStatement } from "../core/index.ts";
import type { Authority } from "../runtime/authority.ts";
import type { ObservedSource } from "../runtime/observed-source.ts";
import type { ProjectionReader } from "../runtime/projection-reader.ts";
import type { VisibilityLedger } from "../runtime/visibility-ledger.ts";

/** What was declared of how sources can be seen. */
export type DeclaredVisibility = Pick<VisibilityLedger, "sources" | "view">;

/** Every source that children are known of, that has an authority, is observed or was declared, by its name. */
export function sourcesView(
  reader: Pick<ProjectionReader, "sources">,
  authorities: readonly Authority[],
  observed: readonly ObservedSource[],
  declared?: DeclaredVisibility,
): SourcesView {
  const children = new Map(reader.sources().map(({ source, children }) => [source, children]));
  const bySource = new Map(authorities.map((authority) => [authority.source, authority]));
  const adapters = new Map(observed.map((adapter) => [adapter.source, adapter]));
  const names = [
    ...new Set([...children.keys(), ...bySource.keys(), ...adapters.keys(), ...(declared?.sources() ?? [])]),
  ].sort();
  const sources = names.map((source): SourceView => {
    const authority = bySource.get(source);
    const visibility = declared?.view(source);
    return {
      source,
      children: children.get(source) ?? 0,
      authority: authority === undefined ? null : authorityView(authority),
      adapter: adapters.get(source)?.view() ?? null,
      ...(visibility === undefined ? undefined : { visibility }),
    };
  });
  return { sources };
}

function authorityView({ id, kind, supportLevel, status }: Authority): AuthorityView {
  return {
    id,
    kind,
    supportLevel,
    answers: status.answers,
    failures: status.failures,
    failuresInARow: status.failuresInARow,
    lastAnsweredAt: optionalTime(status.lastAnsweredAt),
    lastFailedAt: optionalTime(status.lastFailedAt),
    lastFailure: status.lastFailure ?? null,
    inFlightSince: optionalTime(status.inFlightSince),
    nextDueAt: optionalTime(status.nextDueAt),
    statement: status.statement === undefined ? null : statementView(status.statement),
  };
}

function statementView(statement: AuthorityStatement): AuthorityView["statement"] {
  const { snapshotId, epoch, observedAt, isComplete, coverage, listed } = statement;
  return {
    snapshotId,
    sourceEpoch: epoch,
    observedAt: formatTimestamp(observedAt),
    complete: isComplete,
    covered: coverage === "all" ? null : coverage.size,
    listed: listed.size,
  };
}

function optionalTime(time: number | undefined): string | null {
  return time === undefined ? null : formatTimestamp(Math.round(time));
}
