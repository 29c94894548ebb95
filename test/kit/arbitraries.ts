import {
  CAPABILITY_NAMES,
  type Capabilities,
  formatTimestamp,
  type LifecycleEvent,
  type LifecycleEventInput,
  normalizeEvent,
  STATES,
  TERMINAL_STATES,
  WAITING_KINDS,
} from "@agent-lifecycle/proto";
import fc from "fast-check";

/** Identifiers as producers make them, and as nobody expects them: any text that survives trimming. */
function arbitraryIdentifier(): fc.Arbitrary<string> {
  const usual = fc.stringMatching(/^[a-z]{1,8}[-:/._][a-z0-9]{1,12}$/);
  const any = fc.string({ unit: "binary", minLength: 1, maxLength: 40 }).filter((text) => text.trim() !== "");
  return fc.oneof({ weight: 3, arbitrary: usual }, { weight: 1, arbitrary: fc.uuid() }, { weight: 1, arbitrary: any });
}

/** RFC 3339 UTC with milliseconds; mostly of our days, sometimes any time of the calendar. */
function arbitraryTimestamp(): fc.Arbitrary<string> {
  const ours = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2040, 0) });
  const any = fc.integer({ min: Date.UTC(1, 0) - 62_000_000_000, max: Date.UTC(9999, 11, 31, 23, 59, 59, 999) });
  return fc.oneof({ weight: 5, arbitrary: ours }, { weight: 1, arbitrary: any }).map(formatTimestamp);
}

function arbitraryText(maxLength: number): fc.Arbitrary<string> {
  const words = fc
    .array(fc.stringMatching(/^[a-zA-Z0-9]{1,10}$/), { minLength: 1, maxLength: 8 })
    .map((list) => list.join(" "));
  return fc.oneof(words, fc.string({ unit: "binary", maxLength }));
}

function arbitraryReservedDetails(): fc.Arbitrary<Record<string, unknown>> {
  const text = fc.string({ minLength: 1, maxLength: 40 });
  return fc.record(
    {
      name: text,
      agentType: text,
      model: text,
      routingProfile: text,
      tool: text,
      cause: text,
      host: text,
      exitCode: fc.integer(),
      pid: fc.integer({ min: 1, max: 4_194_304 }),
      signal: fc.constantFrom("SIGTERM", "SIGKILL"),
      inferred: fc.constant(true),
      waitingOn: fc.record({ kind: fc.constantFrom(...WAITING_KINDS), text }, { requiredKeys: ["kind"] }),
      usage: fc.record({
        inputTokens: fc.nat(),
        outputTokens: fc.nat(),
        costUsd: fc.float({ min: 0, max: 100, noNaN: true }),
      }),
      cancelRequestedAt: arbitraryTimestamp(),
    },
    { requiredKeys: [] },
  );
}

/** Details as a producer may write them: reserved members, free members, anything that JSON can hold. */
export function arbitraryDetails(): fc.Arbitrary<Record<string, unknown>> {
  const free = fc.dictionary(fc.string({ maxLength: 16 }), fc.jsonValue({ maxDepth: 10 }) as fc.Arbitrary<unknown>, {
    maxKeys: 5,
  });
  return fc.tuple(free, arbitraryReservedDetails()).map(([anything, reserved]) => ({ ...anything, ...reserved }));
}

export function arbitraryCapabilities(): fc.Arbitrary<Partial<Capabilities>> {
  const knowledge = fc.constantFrom("known" as const, "unknown" as const);
  return fc.record(
    Object.fromEntries(CAPABILITY_NAMES.map((name) => [name, knowledge])) as Record<
      (typeof CAPABILITY_NAMES)[number],
      typeof knowledge
    >,
    { requiredKeys: [] },
  );
}

const arbitraryKindAndState: fc.Arbitrary<Pick<LifecycleEventInput, "kind" | "state">> = fc.oneof(
  fc.constant({ kind: "created", state: "created" } as const),
  fc.record({ kind: fc.constant("state_changed" as const), state: fc.constantFrom(...STATES) }),
  fc.record({ kind: fc.constant("terminal" as const), state: fc.constantFrom(...TERMINAL_STATES) }),
  fc.record({
    kind: fc.constantFrom("activity" as const, "heartbeat" as const, "reconciliation" as const, "diagnostic" as const),
  }),
);

/** A valid event as a producer writes it, before normalization. */
export function arbitraryEventInput(): fc.Arbitrary<LifecycleEventInput> {
  const lineage = fc.record(
    {
      rootChildId: arbitraryIdentifier(),
      attempt: fc.nat(),
      external: fc.boolean(),
      parentChildId: arbitraryIdentifier(),
      adoptedAt: arbitraryTimestamp(),
    },
    { requiredKeys: ["rootChildId", "attempt", "external"] },
  );
  const members = fc.record(
    {
      schemaVersion: fc.constant(1 as const),
      eventId: arbitraryIdentifier(),
      source: arbitraryIdentifier(),
      sourceEpoch: arbitraryIdentifier(),
      childId: arbitraryIdentifier(),
      lineage,
      observedAt: arbitraryTimestamp(),
      sequence: fc.oneof(fc.nat(), fc.maxSafeNat()),
      activity: arbitraryText(1200),
      details: arbitraryDetails(),
      capabilities: arbitraryCapabilities(),
    },
    { requiredKeys: ["schemaVersion", "eventId", "source", "sourceEpoch", "childId", "lineage", "observedAt"] },
  );
  return fc
    .tuple(members, arbitraryKindAndState)
    .map(([rest, kindAndState]) => ({ ...rest, ...kindAndState }))
    .filter((event) => event.lineage.parentChildId?.trim() !== event.childId.trim());
}

/** A normalized event. */
export function arbitraryEvent(): fc.Arbitrary<LifecycleEvent> {
  return arbitraryEventInput().map((input) => {
    const normalized = normalizeEvent(input);
    if (!normalized.ok) throw new Error(`an arbitrary event is invalid: ${JSON.stringify(normalized.diagnostic)}`);
    return normalized.event;
  });
}

/** An event with one member, at the top or in its lineage, replaced by something or removed. */
export function arbitraryMutatedEvent(): fc.Arbitrary<unknown> {
  const strange = fc.oneof(
    fc.constantFrom(null, undefined, "", " ", "created", "running", "known", 0, -1, 1.5, 2 ** 53, true, [], {}),
    fc.constantFrom(
      "2026-02-30T00:00:00.000Z",
      "2026-09-01T09:00:00.000+00:00",
      "x".repeat(256),
      "x".repeat(257),
      "🐝".repeat(200),
    ),
    fc.jsonValue(),
    fc.record({ heartbeat: fc.constantFrom("known", "unknown", "maybe", null) }),
  );
  const path = fc.constantFrom(
    ...[
      "schemaVersion",
      "eventId",
      "source",
      "sourceEpoch",
      "childId",
      "lineage",
      "kind",
      "state",
      "observedAt",
      "sequence",
    ],
    ...["activity", "details", "capabilities", "lineage.rootChildId", "lineage.attempt", "lineage.external"],
    ...["lineage.parentChildId", "lineage.adoptedAt"],
  );
  return fc.tuple(arbitraryEventInput(), path, strange).map(([input, where, value]) => {
    const event = structuredClone(input) as unknown as Record<string, unknown>;
    const [name, member] = where.split(".") as [string, string | undefined];
    if (member === undefined) return { ...event, [name]: value };
    return { ...event, lineage: { ...(event.lineage as object), [member]: value } };
  });
}
