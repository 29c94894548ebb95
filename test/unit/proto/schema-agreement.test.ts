import { type LifecycleEvent, normalizeEvent, parseTimestamp, validEvent } from "@agent-lifecycle/proto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { arbitraryEvent, arbitraryEventInput, arbitraryMutatedEvent } from "../../kit/arbitraries.ts";

describe("the published schema and normalizeEvent agree", () => {
  test("whatever is done to an event, both accept it or both reject it", () => {
    let accepted = 0;
    let rejected = 0;
    fc.assert(
      fc.property(fc.oneof(arbitraryMutatedEvent(), arbitraryEventInput()), (raw) => {
        const result = normalizeEvent(raw);
        expect(result.ok).toBe(validBySchema(raw));
        if (result.ok) accepted += 1;
        else rejected += 1;
      }),
      { numRuns: 4000 },
    );
    expect(Math.min(accepted, rejected)).toBeGreaterThan(200);
  });

  test("every normalized event is valid by the schema", () => {
    fc.assert(fc.property(arbitraryEvent(), (event) => void expect(validEvent(event)).toBe(true)));
  });
});

/** The schema's judgement of the trimmed event, and the rules that a schema cannot say. */
function validBySchema(raw: unknown): boolean {
  const event = trimmed(raw) as LifecycleEvent;
  if (!validEvent(event)) return false;
  const { lineage } = event;
  if (lineage.parentChildId === event.childId) return false;
  if (lineage.adoptedAt !== undefined && parseTimestamp(lineage.adoptedAt) === undefined) return false;
  return parseTimestamp(event.observedAt) !== undefined;
}

const MAY_BE_NULL = new Set(["state", "sequence", "activity", "details", "capabilities", "parentChildId", "adoptedAt"]);

function trimmed(raw: unknown): unknown {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return raw;
  return Object.fromEntries(
    Object.entries(raw)
      .filter(([name, value]) => value !== null || !MAY_BE_NULL.has(name))
      .map(([name, value]) => {
        if (["eventId", "source", "sourceEpoch", "childId", "rootChildId", "parentChildId"].includes(name)) {
          return [name, typeof value === "string" ? value.trim() : value];
        }
        return [name, name === "lineage" ? trimmed(value) : value];
      }),
  );
}
