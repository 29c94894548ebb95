import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const TESTS = new URL("../", import.meta.url);
/** Of OTLP servers: H1 to H23 over HTTP, T1 to T18 as acceptance tests. */
const RULES = [
  ...Array.from({ length: 23 }, (_, index) => `H${index + 1}`),
  ...Array.from({ length: 18 }, (_, index) => `T${index + 1}`),
];

/** Every rule that the name of a test states. */
function statedRules(): ReadonlySet<string> {
  const stated = new Set<string>();
  for (const path of readdirSync(TESTS, { recursive: true, encoding: "utf8" })) {
    if (!path.endsWith(".test.ts") || path.startsWith("dist") || path.includes("node_modules")) continue;
    const text = readFileSync(new URL(path, TESTS), "utf8");
    for (const [, name = ""] of text.matchAll(/\b(?:test|it|describe)(?:\.each\([^)]*\))?\(\s*["'`]([^"'`]+)["'`]/g)) {
      for (const [rule] of name.matchAll(/\b[HT]\d{1,2}\b/g)) stated.add(rule);
    }
  }
  return stated;
}

test.each(RULES)("%s is stated by a test", (rule) => expect(statedRules()).toContain(rule));
