import { formatTimestamp, isRepresentable, parseTimestamp } from "@agent-lifecycle/proto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const earliest = Date.parse("0000-01-01T00:00:00.000Z");
const latest = Date.parse("9999-12-31T23:59:59.999Z");

describe("timestamps", () => {
  test("every time of the calendar is written as Date writes it, and read back", () => {
    fc.assert(
      fc.property(fc.integer({ min: earliest, max: latest }), (epochMs) => {
        const text = new Date(epochMs).toISOString();
        expect(formatTimestamp(epochMs)).toBe(text);
        expect(parseTimestamp(text)).toBe(epochMs);
      }),
    );
  });

  test("every day of four centuries is where Date puts it", () => {
    for (let day = Date.UTC(1900, 0, 1); day < Date.UTC(2300, 0, 1); day += 86_400_000) {
      expect(parseTimestamp(formatTimestamp(day))).toBe(day);
      expect(formatTimestamp(day)).toBe(new Date(day).toISOString());
    }
  });

  test("any text with the parts of a time is accepted exactly when Date calls it a real one", () => {
    const part = (max: number) => fc.integer({ min: 0, max }).map((value) => String(value).padStart(2, "0"));
    const year = fc.integer({ min: 0, max: 9999 }).map((value) => String(value).padStart(4, "0"));
    fc.assert(
      fc.property(year, part(14), part(33), part(25), part(61), part(61), (y, month, day, hour, minute, second) => {
        const text = `${y}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
        const date = new Date(text);
        const real = !Number.isNaN(date.getTime()) && date.toISOString() === text;
        expect(parseTimestamp(text)).toBe(real ? date.getTime() : undefined);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ["2026-09-01T09:00:00Z", "2026-09-01T09:00:00.000Z"],
    ["2026-09-01T09:00:00+00:00", "2026-09-01T09:00:00.000Z"],
    ["2026-09-01t09:00:00.5z", "2026-09-01T09:00:00.500Z"],
    ["2026-09-01T09:00:00.123456789Z", "2026-09-01T09:00:00.123Z"],
    ["2028-02-29T00:00:00Z", "2028-02-29T00:00:00.000Z"],
  ])("%s is read as %s", (text, normalized) => {
    expect(formatTimestamp(parseTimestamp(text) ?? Number.NaN)).toBe(normalized);
  });

  test.each([
    "2026-02-29T00:00:00Z",
    "2100-02-29T00:00:00Z",
    "2026-09-31T00:00:00Z",
    "2026-09-01T24:00:00Z",
    "2026-09-01T09:00:60Z",
    "2026-09-01T09:00:00",
    "2026-09-01T09:00:00+02:00",
    "2026-09-01T09:00:00-00:00",
    "2026-09-01 09:00:00Z",
    "2026-9-1T09:00:00Z",
    "2026-09-01T09:00:00.1234567890Z",
    "2026-09-01T09:00:00.000Z ",
    "٢٠٢٦-09-01T09:00:00.000Z",
    "",
  ])("%j is no time", (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });

  test("times outside the calendar are refused, not written wrong", () => {
    for (const epochMs of [earliest - 1, latest + 1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(isRepresentable(epochMs)).toBe(false);
      expect(() => formatTimestamp(epochMs)).toThrow(RangeError);
    }
    expect(isRepresentable(earliest) && isRepresentable(latest)).toBe(true);
  });
});
