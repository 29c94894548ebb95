import {
  formatDuration,
  formatEndpoint,
  formatSize,
  memoryLimitBytes,
  parseDuration,
  parseEndpoint,
  parseSize,
} from "@agent-lifecycle/collector/parts";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";

describe("a duration", () => {
  test.each([
    ["500ms", 500],
    ["30s", 30_000],
    ["1.1s", 1_100],
    ["90m", 5_400_000],
    ["1h", 3_600_000],
    ["7d", 604_800_000],
    ["0.001s", 1],
  ])("%s has %d ms", (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  test.each(["", "30", "s", "-1s", "0s", "0.5ms", "1 s", "1S", "1s ", "1s\n", "1e3s", "9999999999s", "1w", "1h30m"])(
    "is not %j",
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );

  it("is written so that it reads as it was", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999_999_999 }), (milliseconds) => {
        expect(parseDuration(formatDuration(milliseconds))).toBe(milliseconds);
      }),
    );
  });

  it("is written in the largest unit that loses nothing", () => {
    expect([120_000, 90_000, 1_500, 86_400_000].map(formatDuration)).toEqual(["2m", "90s", "1500ms", "1d"]);
  });
});

describe("a size", () => {
  test.each([
    ["1B", 1],
    ["64KiB", 65_536],
    ["1.5MiB", 1_572_864],
    ["10GiB", 10_737_418_240],
    ["1TiB", 1_099_511_627_776],
  ])("%s has %d bytes", (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  test.each(["64", "64MB", "64mib", "0MiB", "0.5B", "-1KiB", "999999999TiB"])("is not %j", (text) => {
    expect(parseSize(text)).toBeUndefined();
  });

  it("is written so that it reads as it was", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999_999_999 }), fc.constantFrom(1, 2 ** 10, 2 ** 20), (count, factor) => {
        expect(parseSize(formatSize(count * factor))).toBe(count * factor);
      }),
    );
  });
});

describe("an endpoint", () => {
  test.each([
    ["127.0.0.1:4318", { host: "127.0.0.1", port: 4318 }],
    ["[::1]:0", { host: "::1", port: 0 }],
    ["collector.example:8787", { host: "collector.example", port: 8787 }],
  ])("%s names host and port, and is written as it was", (text, endpoint) => {
    expect(parseEndpoint(text)).toEqual(endpoint);
    expect(formatEndpoint(endpoint)).toBe(text);
  });

  test.each(["4318", ":4318", "127.0.0.1", "::1:4318", "http://127.0.0.1:4318", "a b:1", "host:port"])(
    "is not %j",
    (text) => {
      expect(parseEndpoint(text)).toBeUndefined();
    },
  );
});

test("a share of memory is that of what there is, a size is itself", () => {
  expect(memoryLimitBytes("80%", 1_000)).toBe(800);
  expect(memoryLimitBytes("12.5%", 1_000)).toBe(125);
  expect(memoryLimitBytes(77, 1_000)).toBe(77);
});
