import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { OTLP_RULES } from "./otlp-rules.ts";

const TESTS = new URL("../", import.meta.url);
// A test that is skipped, or that is a comment, states nothing.
const TITLE =
  /^[ \t]*(?:test|it|describe)(?:\.each\((?:[^()]|\([^()]*\))*\))?\(\s*(?:"([^"\n]+)"|'([^'\n]+)'|`([^`]+)`)/gm;

/** The titles of tests that state a rule, with their files, by rule. */
function testsByRule(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const path of readdirSync(TESTS, { recursive: true, encoding: "utf8" })) {
    if (!path.endsWith(".test.ts") || path.startsWith("dist") || path.includes("node_modules")) continue;
    const text = readFileSync(new URL(path, TESTS), "utf8");
    for (const [, double, single, template] of text.matchAll(TITLE)) {
      const title = double ?? single ?? template ?? "";
      for (const [rule] of title.matchAll(/\b[HT]\d{1,2}\b/g)) {
        found.set(rule, [...(found.get(rule) ?? []), `${path}: ${title}`]);
      }
    }
  }
  return found;
}

const STATED = testsByRule();

test.each(Object.entries(OTLP_RULES))("%s is stated by a test: %s", (rule) => {
  expect(STATED.get(rule) ?? []).not.toEqual([]);
});

test("no test states a rule that there is not", () => {
  expect([...STATED.keys()].filter((rule) => !Object.hasOwn(OTLP_RULES, rule))).toEqual([]);
});

test("a title that is skipped or commented out states nothing, and one behind a table does", () => {
  const titles = (source: string): number => [...source.matchAll(TITLE)].length;
  expect(titles('  // test("H1", () => {});\n  test.skip("H1", () => {});')).toBe(0);
  expect(titles('  test.each([[f(1)], ["a"]])("H1: %s", () => {});\n  it(\n    "H2", () => {});')).toBe(2);
});
