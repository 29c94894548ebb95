import { canonicalEvent, canonicalJson, parseCanonicalEvent } from "@agent-lifecycle/proto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { arbitraryEvent } from "../../kit/arbitraries.ts";

describe("canonical form", () => {
  test("an event comes back from its canonical form", () => {
    fc.assert(
      fc.property(arbitraryEvent(), (event) => {
        expect(parseCanonicalEvent(canonicalEvent(event))).toEqual(event);
        expect(canonicalEvent(event)).not.toContain("\n");
      }),
    );
  });

  test("members in another order give the same text, other values another", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const shuffled = reversed(value);
        expect(canonicalJson(shuffled)).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson([value])).not.toBe(canonicalJson(value));
      }),
    );
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}
