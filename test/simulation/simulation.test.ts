import { expect, test } from "vitest";
import { simulate } from "./simulate.ts";

const FIRST_SEED = Number(process.env["SIMULATION_SEED"] ?? Date.now() % 1_000_000_000);
const SEEDS = Number(process.env["SIMULATION_SEEDS"] ?? (process.env["SIMULATION_SEED"] === undefined ? 2_000 : 1));

test(`the laws hold in ${SEEDS} worlds`, { timeout: 900_000 }, async () => {
  console.log(`simulation: SIMULATION_SEED=${FIRST_SEED} and the ${SEEDS - 1} after it`);
  const totals = { events: 0, crashes: 0, outages: 0, lost: 0, stale: 0, corrected: 0, lostByAuthority: 0 };
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
    const { violations, trace, counts } = await simulate(seed);
    expect(violations, `SIMULATION_SEED=${seed}\n${trace.join("\n")}`).toEqual([]);
    for (const name of Object.keys(totals) as (keyof typeof totals)[]) totals[name] += counts[name];
  }
  console.log(`simulation: ${JSON.stringify(totals)}`);
  // Worlds in which nothing goes wrong prove nothing.
  if (SEEDS >= 1_000) for (const count of Object.values(totals)) expect(count).toBeGreaterThan(SEEDS / 100);
});
