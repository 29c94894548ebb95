import { knownCapabilities } from "./capabilities.ts";
import type { LifecycleEvent } from "./event.ts";
import { isJsonObject } from "./json.ts";

/** JSON with members sorted by code unit: equal values give equal text, whatever order they were written in. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value) ?? "null";
  const members: string[] = [];
  for (const name of Object.keys(value).sort()) {
    if (value[name] !== undefined) members.push(`${JSON.stringify(name)}:${canonicalJson(value[name])}`);
  }
  return `{${members.join(",")}}`;
}

/**
 * The canonical form of a normalized event: one line of JSON with a fixed member order. Two events have the same
 * content exactly when these texts are equal (P2, P3), and `parseCanonicalEvent` gives the event back.
 */
export function canonicalEvent(event: LifecycleEvent): string {
  const { lineage } = event;
  let text = `{"schemaVersion":1,"eventId":${JSON.stringify(event.eventId)},"source":${JSON.stringify(event.source)}`;
  text += `,"sourceEpoch":${JSON.stringify(event.sourceEpoch)},"childId":${JSON.stringify(event.childId)}`;
  text += `,"lineage":{"rootChildId":${JSON.stringify(lineage.rootChildId)},"attempt":${lineage.attempt}`;
  text += `,"external":${lineage.external}`;
  if (lineage.parentChildId !== undefined) text += `,"parentChildId":${JSON.stringify(lineage.parentChildId)}`;
  if (lineage.adoptedAt !== undefined) text += `,"adoptedAt":"${lineage.adoptedAt}"`;
  text += `},"kind":"${event.kind}"`;
  if (event.state !== undefined) text += `,"state":"${event.state}"`;
  text += `,"observedAt":"${event.observedAt}"`;
  if (event.sequence !== undefined) text += `,"sequence":${event.sequence}`;
  if (event.activity !== undefined) text += `,"activity":${JSON.stringify(event.activity)}`;
  if (event.details !== undefined) text += `,"details":${canonicalJson(event.details)}`;
  const known = knownCapabilities(event.capabilities);
  if (known.length > 0) text += `,"capabilities":{${known.map((name) => `"${name}":"known"`).join(",")}}`;
  return `${text}}`;
}
