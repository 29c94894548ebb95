import {
  CAPABILITY_NAMES,
  capabilitiesFrom,
  knownCapabilities,
  mergeCapabilities,
  NO_CAPABILITIES,
} from "@agent-lifecycle/proto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { arbitraryCapabilities } from "../../kit/arbitraries.ts";

describe("capabilities", () => {
  test("what is not stated is unknown", () => {
    expect(capabilitiesFrom(undefined)).toBe(NO_CAPABILITIES);
    expect(capabilitiesFrom({})).toBe(NO_CAPABILITIES);
    expect(CAPABILITY_NAMES.every((name) => NO_CAPABILITIES[name] === "unknown")).toBe(true);
  });

  test("stated knowledge is kept, and read back in the fixed order", () => {
    fc.assert(
      fc.property(arbitraryCapabilities(), (stated) => {
        const known = CAPABILITY_NAMES.filter((name) => stated[name] === "known");
        expect(knownCapabilities(capabilitiesFrom(stated))).toEqual(known);
      }),
    );
  });

  test("merging never forgets, and does not depend on the order (P16)", () => {
    fc.assert(
      fc.property(arbitraryCapabilities(), arbitraryCapabilities(), (first, second) => {
        const [a, b] = [capabilitiesFrom(first), capabilitiesFrom(second)];
        const merged = mergeCapabilities(a, b);
        expect(merged).toBe(mergeCapabilities(b, a));
        for (const name of CAPABILITY_NAMES) {
          expect(merged[name]).toBe(a[name] === "known" || b[name] === "known" ? "known" : "unknown");
        }
      }),
    );
  });

  test("equal records are one frozen object", () => {
    const capabilities = capabilitiesFrom({ heartbeat: "known" });
    expect(capabilitiesFrom({ heartbeat: "known", cancel: "unknown" })).toBe(capabilities);
    expect(Object.isFrozen(capabilities)).toBe(true);
  });
});
