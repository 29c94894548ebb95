import { expect, test } from "vitest";
import { fuzz } from "./run-fuzz.ts";

const INPUTS = Number(process.env["FUZZ_INPUTS"] ?? 60_000);
const SEED = Number(process.env["FUZZ_SEED"] ?? Date.now() % 1_000_000_000);

test(`${INPUTS} broken inputs break no decoder`, { timeout: 120_000 }, async () => {
  console.log(`fuzz: FUZZ_SEED=${SEED}`);
  const { inputs, findings } = await fuzz(INPUTS, SEED);
  expect(findings).toEqual([]);
  expect([...inputs.values()].every((count) => count > 0)).toBe(true);
});
