import { describe, expect, test } from "vitest";
import { SABOTAGES } from "./sabotage.ts";
import { simulate } from "./simulate.ts";

const MAX_WORLDS = 60;

/** What is caught in one world of many is caught by the simulation, which looks at thousands. */
describe("the simulation finds", () => {
  for (const sabotage of SABOTAGES) {
    const { name, violation } = sabotage();
    test(name, { timeout: 120_000 }, async () => {
      for (let seed = 1; seed <= MAX_WORLDS; seed += 1) {
        const { violations } = await simulate(seed, sabotage());
        if (violations.length === 0) continue;
        expect(violations.join("\n")).toMatch(violation);
        const honest = await simulate(seed);
        expect(honest.violations, `the world ${seed} is broken by itself`).toEqual([]);
        console.log(`simulation: ${name}: found in world ${seed}`);
        return;
      }
      expect.fail(`nothing was found in ${MAX_WORLDS} worlds`);
    });
  }
});
