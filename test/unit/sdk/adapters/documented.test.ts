import { readFileSync } from "node:fs";
import { ADAPTERS } from "@agent-lifecycle/sdk/adapters";
import { expect, test } from "vitest";

const DOCUMENT = readFileSync(new URL("../../../../docs/adapters.md", import.meta.url), "utf8");

test("every format has its section in docs/adapters.md, with what can and cannot be known", () => {
  const sections = DOCUMENT.split(/^## /m).filter((section) => /^[^\n]* · `/.test(section));
  const formats = sections.map((section) => /` *$|`([^`]+)`$/m.exec(section.split("\n", 1)[0] ?? "")?.[1]);
  expect(formats).toEqual(expect.arrayContaining(ADAPTERS.map(({ format }) => format)));
  expect(formats).toHaveLength(ADAPTERS.length);
  for (const section of sections) {
    expect(section).toMatch(/Known( capabilities)?: /);
    if (!section.startsWith("Codex hooks")) expect(section).toContain("| can be known | cannot be known |");
  }
});
