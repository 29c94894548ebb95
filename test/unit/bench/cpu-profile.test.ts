import { describe, expect, test } from "vitest";
import { type CpuProfile, selfTimesOf, timesByPart } from "../../bench/measure/cpu-profile.ts";

const frame = (functionName: string, url: string) => ({ functionName, url, lineNumber: 0 });
const STORE = "file:///x/collector/dist/store/sqlite/sqlite-store.js";
const REDACT = "file:///x/proto/dist/redact.js";

const PROFILE: CpuProfile = {
  nodes: [
    { id: 1, callFrame: frame("(root)", ""), children: [2, 3, 5, 6] },
    { id: 2, callFrame: frame("(idle)", "") },
    { id: 3, callFrame: frame("append", STORE), children: [4] },
    { id: 4, callFrame: frame("run", "") },
    { id: 5, callFrame: frame("(garbage collector)", "") },
    { id: 6, callFrame: frame("redactText", REDACT) },
  ],
  samples: [2, 4, 4, 3, 5, 6, 2],
  timeDeltas: [1_000, 10, 20, 5, 7, 3, 9_000],
};

describe("what a processor profile says", () => {
  test("a function has the time of all its samples, and waiting for work is no work", () => {
    const times = selfTimesOf(PROFILE).map(({ frame, microseconds }) => [frame.functionName, microseconds]);
    expect(times).toEqual([
      ["run", 30],
      ["(garbage collector)", 7],
      ["append", 5],
      ["redactText", 3],
    ]);
  });

  test("native code stands under the script that calls it", () => {
    expect(selfTimesOf(PROFILE)[0]?.script).toEqual(frame("append", STORE));
  });

  test("every function belongs to one part, and the parts add up to the whole", () => {
    expect(timesByPart(selfTimesOf(PROFILE))).toEqual([
      { part: "store and SQLite", microseconds: 35 },
      { part: "garbage collection", microseconds: 7 },
      { part: "redaction", microseconds: 3 },
    ]);
  });

  test("a profile that contradicts itself is refused", () => {
    expect(() => selfTimesOf({ ...PROFILE, samples: [9], timeDeltas: [1] })).toThrow("no node 9");
  });
});
