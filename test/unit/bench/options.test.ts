import { describe, expect, test } from "vitest";
import { parseOptions } from "../../bench/options.ts";
import { PROFILE, SCENARIO_NAMES } from "../../bench/scenario.ts";

describe("the arguments of the benchmark", () => {
  test("everything is measured but the profile, in the order of the list", () => {
    const expected = SCENARIO_NAMES.filter((name) => name !== PROFILE);
    expect(parseOptions([])).toEqual({ quick: false, scenarios: expected });
  });

  test("--profile measures the profile alone, or beside what is named", () => {
    expect(parseOptions(["--profile", "--quick"])).toEqual({ quick: true, scenarios: [PROFILE] });
    expect(parseOptions(["--profile", "--only", "fold"]).scenarios).toEqual(["fold", PROFILE]);
  });

  test("a name that no scenario has is refused", () => {
    expect(() => parseOptions(["--only", "everything"])).toThrow('there is no scenario named "everything"');
  });
});
