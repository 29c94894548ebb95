import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";

test("the generated validators are those of the published schemas", async () => {
  const script = new URL("../../../proto/scripts/generate-validators.mjs", import.meta.url);
  const { generateValidators } = (await import(script.href)) as { generateValidators: () => Promise<string> };
  const committed = await readFile(new URL("../../../proto/src/generated/validators.ts", import.meta.url), "utf8");
  expect(committed).toBe(await generateValidators());
});
