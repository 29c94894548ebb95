import { type Capabilities, canonicalJson, capabilitiesFrom } from "@agent-lifecycle/proto";
import type { ChildRecord } from "./child-record.ts";
import type { SnapshotEpoch } from "./input.ts";
import { BLANK } from "./new-record.ts";
import type { Projection } from "./projection.ts";

/** A record as JSON, for `parseRecord` to read back. */
export function serializeRecord(record: ChildRecord): string {
  return JSON.stringify(record);
}

/** Reads back what `serializeRecord` wrote. @throws SyntaxError when the text is no JSON. */
export function parseRecord(text: string): ChildRecord {
  const parsed = JSON.parse(text) as Partial<ChildRecord> & { readonly capabilities?: Capabilities };
  return { ...BLANK, ...parsed, capabilities: capabilitiesFrom(parsed.capabilities) };
}

/** A source's part of the projection beside its children, as canonical JSON. */
export function serializeSnapshotEpoch(epoch: SnapshotEpoch): string {
  return canonicalJson(epoch);
}

/** Reads back what `serializeSnapshotEpoch` wrote. @throws SyntaxError when the text is no JSON. */
export function parseSnapshotEpoch(text: string): SnapshotEpoch {
  return JSON.parse(text) as SnapshotEpoch;
}

/**
 * The whole projection, one line per source and child, sorted by code unit. Two projections are the same exactly when
 * these texts are; `verify` compares a live one with its replay this way.
 */
export function* serializeProjection(projection: Projection): Generator<string> {
  const sources = [...projection.sources.values()].sort((first, second) => compare(first.source, second.source));
  for (const { source, snapshotEpoch, children } of sources) {
    if (snapshotEpoch !== undefined) yield `${JSON.stringify(source)} ${serializeSnapshotEpoch(snapshotEpoch)}`;
    const records = [...children.values()].sort((first, second) => compare(first.childId, second.childId));
    for (const record of records) yield canonicalJson(record);
  }
}

function compare(first: string, second: string): number {
  if (first === second) return 0;
  return first < second ? -1 : 1;
}
