import { INPUT_STATUSES } from "@agent-lifecycle/collector/projection";
import { DIAGNOSTIC_CODES, STATES } from "@agent-lifecycle/proto";

type Json = null | boolean | number | string | Json[] | { [member: string]: Json };
type Members = Record<string, Json>;

export interface Alteration {
  readonly what: string;
  /** The vector with exactly one expectation altered. */
  readonly altered: unknown;
}

/** Every vector that differs from this one in a single expectation: a value changed, added or taken away. */
export function alterationsOf(raw: unknown): readonly Alteration[] {
  const vector = raw as { readonly steps: readonly { readonly expect: Members }[]; readonly final: readonly Members[] };
  const ofSteps = vector.steps.flatMap((step, index) =>
    alterExpectation(step.expect, "tick" in step || "resumed" in step).map(({ what, members }) => ({
      what: `step ${index + 1}: ${what}`,
      altered: { ...vector, steps: vector.steps.with(index, { ...step, expect: members }) },
    })),
  );
  const ofRecords = vector.final.flatMap((record, index) => [
    { what: `final ${index}: removed`, altered: { ...vector, final: vector.final.toSpliced(index, 1) } },
    ...alterRecord(record).map(({ what, members }) => ({
      what: `final ${index}: ${what}`,
      altered: { ...vector, final: vector.final.with(index, members) },
    })),
  ]);
  return [...ofSteps, ...ofRecords];
}

interface AlteredMembers {
  readonly what: string;
  readonly members: Members;
}

function alterExpectation(expect: Members, isTimeOnly: boolean): readonly AlteredMembers[] {
  const altered: AlteredMembers[] = Object.entries(expect).flatMap(([name, value]) => {
    const values = name === "status" ? othersOf(INPUT_STATUSES, value) : otherValues(name, value);
    return values.map((other) => ({
      what: `${name} → ${JSON.stringify(other)}`,
      members: { ...expect, [name]: other },
    }));
  });
  if ("diagnostic" in expect) altered.push({ what: "diagnostic taken away", members: without(expect, "diagnostic") });
  else if (!isTimeOnly && !("diagnostics" in expect)) {
    altered.push({ what: "diagnostic added", members: { ...expect, diagnostic: "epoch_gap" } });
  }
  if (Array.isArray(expect["stale"]) && expect["stale"].length > 0 && "status" in expect) {
    altered.push({ what: "stale taken away", members: without(expect, "stale") });
  }
  return altered;
}

function alterRecord(record: Members): readonly AlteredMembers[] {
  const altered: AlteredMembers[] = Object.entries(record).flatMap(([name, value]) =>
    otherValues(name, value).map((other) => ({
      what: `${name} → ${JSON.stringify(other)}`,
      members: { ...record, [name]: other },
    })),
  );
  for (const [name, value] of [
    ["highestSequence", 99],
    ["activity", "none"],
    ["terminalEvidence", "event"],
  ] as const) {
    if (name in record) altered.push({ what: `${name} taken away`, members: without(record, name) });
    else altered.push({ what: `${name} added`, members: { ...record, [name]: value } });
  }
  return altered;
}

const CHOICES: Readonly<Record<string, readonly string[]>> = {
  diagnostic: DIAGNOSTIC_CODES,
  diagnostics: DIAGNOSTIC_CODES,
  state: STATES,
  history: ["complete", "from_adoption", "partial"],
  terminalEvidence: ["event", "authoritative_snapshot", "failed_reconciliation"],
};

/** Other values that the member could have had. */
function otherValues(name: string, value: Json): readonly Json[] {
  const choices = CHOICES[name];
  if (typeof value === "string") return choices === undefined ? [`${value}x`] : othersOf(choices, value);
  if (typeof value === "number") return [value + 1];
  if (typeof value === "boolean") return [!value];
  if (value === null) return ["created"];
  if (Array.isArray(value)) return otherLists(name, value);
  return Object.entries(value).flatMap(([member, inner]) =>
    otherValues(member, inner).map((other) => ({ ...value, [member]: other })),
  );
}

const ADDITIONS: Readonly<Record<string, Json>> = {
  diagnostics: "epoch_gap",
  stale: "someone-else",
  gaps: [90, 91],
  audit: { childId: "someone-else", from: "created", to: "starting" },
};

function otherLists(name: string, list: readonly Json[]): readonly Json[] {
  const addition = ADDITIONS[name];
  return [
    ...(addition === undefined ? [] : [[...list, addition]]),
    ...list.map((_item, index) => list.toSpliced(index, 1)),
    ...list.flatMap((item, index) => otherItems(name, item).map((other) => list.with(index, other))),
  ];
}

function otherItems(name: string, item: Json): readonly Json[] {
  if (name !== "gaps" || !Array.isArray(item)) return otherValues(name, item);
  const [from, to] = item;
  return typeof from === "number" && typeof to === "number" ? [[from, to + 1]] : [];
}

function othersOf(choices: readonly string[], value: Json): readonly string[] {
  return choices.filter((choice) => choice !== value);
}

function without(members: Members, name: string): Members {
  return Object.fromEntries(Object.entries(members).filter(([member]) => member !== name));
}
