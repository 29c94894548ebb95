import { statementOf } from "./capabilities.ts";
import type { LifecycleEvent } from "./event.ts";
import { isJsonObject } from "./json.ts";

/** JSON with members sorted by code unit: equal values give equal text, whatever order they were written in. */
export function canonicalJson(value: unknown): string {
  // What came from another canonical text is in order already: the engine's own writer is far faster.
  return isInOrder(value) ? (JSON.stringify(value) ?? "null") : sortedJson(value);
}

function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value) ?? "null";
  const members: string[] = [];
  for (const name of Object.keys(value).sort()) {
    if (value[name] !== undefined) members.push(`${JSON.stringify(name)}:${sortedJson(value[name])}`);
  }
  return `{${members.join(",")}}`;
}

/** Whether all members, at every depth, are enumerated in the order of their code units. */
function isInOrder(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isInOrder);
  let previous = "";
  for (const name of Object.keys(value)) {
    if (name < previous || !isInOrder((value as Readonly<Record<string, unknown>>)[name])) return false;
    previous = name;
  }
  return true;
}

/**
 * The canonical form of a normalized event: one line of JSON with a fixed member order. Two events have the same
 * content exactly when these texts are equal (P2, P3), and `parseCanonicalEvent` gives the event back.
 */
export function canonicalEvent(event: LifecycleEvent): string {
  const { lineage, details } = event;
  const detailsInOrder = isInOrder(details);
  const capabilities = statementOf(event.capabilities);
  // Written as one value: a text pieced together is a tree of pieces, and many of them wait in memory at once.
  const text = JSON.stringify({
    schemaVersion: 1,
    eventId: event.eventId,
    source: event.source,
    sourceEpoch: event.sourceEpoch,
    childId: event.childId,
    lineage: {
      rootChildId: lineage.rootChildId,
      attempt: lineage.attempt,
      external: lineage.external,
      parentChildId: lineage.parentChildId,
      adoptedAt: lineage.adoptedAt,
    },
    kind: event.kind,
    state: event.state,
    observedAt: event.observedAt,
    sequence: event.sequence,
    activity: event.activity,
    details: detailsInOrder ? details : undefined,
    capabilities,
  });
  if (detailsInOrder) return text;
  const end = capabilities === undefined ? "}" : `,"capabilities":${JSON.stringify(capabilities)}}`;
  return `${text.slice(0, -end.length)},"details":${sortedJson(details)}${end}`;
}
