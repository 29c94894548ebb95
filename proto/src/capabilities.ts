/**
 * What a source is known to offer for a child (contract section 2, D4). Unknown is the default and is shown as
 * unknown: it is never read as "no".
 */
export const CAPABILITY_NAMES = ["history", "heartbeat", "snapshot", "cancel", "terminalCause"] as const;

export type CapabilityName = (typeof CAPABILITY_NAMES)[number];

export type CapabilityKnowledge = "known" | "unknown";

export type Capabilities = Readonly<Record<CapabilityName, CapabilityKnowledge>>;

// There are only 32 of them, and every event and child carries one: they are shared.
const EVERY_COMBINATION: readonly Capabilities[] = Array.from({ length: 2 ** CAPABILITY_NAMES.length }, (_, bits) =>
  Object.freeze({
    history: knowledge(bits, 0),
    heartbeat: knowledge(bits, 1),
    snapshot: knowledge(bits, 2),
    cancel: knowledge(bits, 3),
    terminalCause: knowledge(bits, 4),
  }),
);

function knowledge(bits: number, position: number): CapabilityKnowledge {
  return (bits & (1 << position)) === 0 ? "unknown" : "known";
}

function bitsOf(capabilities: Partial<Capabilities>): number {
  let bits = 0;
  for (let position = 0; position < CAPABILITY_NAMES.length; position += 1) {
    if (capabilities[CAPABILITY_NAMES[position] as CapabilityName] === "known") bits |= 1 << position;
  }
  return bits;
}

function combination(bits: number): Capabilities {
  return EVERY_COMBINATION[bits] as Capabilities;
}

/** Nothing is known. */
export const NO_CAPABILITIES: Capabilities = combination(0);

/** The full record for a partial statement; omitted members are unknown. The result is shared and frozen. */
export function capabilitiesFrom(stated: Partial<Capabilities> | undefined): Capabilities {
  return stated === undefined || stated === NO_CAPABILITIES ? NO_CAPABILITIES : combination(bitsOf(stated));
}

/** Known where either side is known (P16: knowledge never goes back to unknown within an epoch). */
export function mergeCapabilities(first: Capabilities, second: Capabilities): Capabilities {
  return first === second || second === NO_CAPABILITIES ? first : combination(bitsOf(first) | bitsOf(second));
}

const EVERY_STATEMENT: readonly (Partial<Capabilities> | undefined)[] = EVERY_COMBINATION.map((capabilities) => {
  const known = knownCapabilities(capabilities);
  return known.length === 0 ? undefined : Object.freeze(Object.fromEntries(known.map((name) => [name, "known"])));
});

/** The shortest statement of the same: only what is known, in the order of `CAPABILITY_NAMES`; `undefined` for nothing. */
export function statementOf(capabilities: Capabilities): Partial<Capabilities> | undefined {
  return capabilities === NO_CAPABILITIES ? undefined : EVERY_STATEMENT[bitsOf(capabilities)];
}

/** The names that are known, in the order of `CAPABILITY_NAMES`. */
export function knownCapabilities(capabilities: Capabilities): readonly CapabilityName[] {
  return CAPABILITY_NAMES.filter((name) => capabilities[name] === "known");
}
