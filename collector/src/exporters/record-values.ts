import { utf8Length } from "@agent-lifecycle/proto";
import { RECORD_ATTRIBUTES } from "../telemetry/record-attributes.ts";
import type { ChildUpdate } from "./child-update.ts";

export type RecordValue = string | number | boolean;
export type RecordAttributes = Readonly<Record<string, RecordValue>>;

/** Tempo cuts a value at 2,048 bytes, and tells nobody. */
const MAX_VALUE_BYTES = 2_000;

/** Attributes by the names of the registry; what is not known is absent. */
export function attributes(
  values: Partial<Record<keyof typeof RECORD_ATTRIBUTES, RecordValue | undefined>>,
): RecordAttributes {
  const known: Record<string, RecordValue> = {};
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) continue;
    const { name } = RECORD_ATTRIBUTES[key as keyof typeof RECORD_ATTRIBUTES];
    known[name] = typeof value === "string" ? cutBytes(value) : value;
  }
  return known;
}

/** Who it is about: the same on records and on spans. */
export function identityValues({
  source,
  childId,
  lineage,
  epoch,
  name,
}: ChildUpdate): Parameters<typeof attributes>[0] {
  return {
    source,
    childId,
    sourceEpoch: epoch,
    rootChildId: lineage?.rootChildId ?? childId,
    parentChildId: lineage?.parentChildId,
    attempt: lineage?.attempt,
    external: lineage?.external,
    agentName: name,
  };
}

function cutBytes(text: string): string {
  if (text.length * 3 <= MAX_VALUE_BYTES || utf8Length(text) <= MAX_VALUE_BYTES) return text;
  let cut = text.slice(0, MAX_VALUE_BYTES);
  while (utf8Length(cut) > MAX_VALUE_BYTES) cut = cut.slice(0, -16);
  // Half of a pair would be no text.
  return cut.replace(/[\uD800-\uDBFF]$/, "");
}
