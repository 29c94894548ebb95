import { describe, expect, test } from "vitest";
import { ratioOf } from "../../bench/measure/figure.ts";
import { median, quantile, spread } from "../../bench/measure/statistics.ts";

describe("what the benchmark makes of its samples", () => {
  test("a quantile is one of the samples, whatever order they came in", () => {
    const samples = [9, 1, 8, 2, 7, 3, 6, 4, 5, 10];
    expect([0, 0.5, 0.9, 0.99, 1].map((share) => quantile(samples, share))).toEqual([1, 5, 9, 10, 10]);
    expect(samples[0]).toBe(9);
  });

  test("one slow round does not move the median, and shows in the spread", () => {
    expect(median([100, 101, 99, 500, 100])).toBe(100);
    expect(spread([100, 101, 99, 500, 100])).toBe(4.01);
    expect(spread([100])).toBe(0);
  });

  test("without samples there is no figure", () => {
    expect(median([])).toBeNaN();
  });

  test("a round that slows subject and baseline alike leaves the ratio as it is", () => {
    const baseline = { name: "half as fast", samples: [50, 5, 50] };
    expect(ratioOf({ what: "subject", unit: "events/s", samples: [100, 10, 100], baseline })).toBe(2);
    expect(ratioOf({ what: "subject", unit: "events/s", samples: [100] })).toBeUndefined();
  });
});
