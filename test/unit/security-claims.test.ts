import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const ROOT = new URL("../../", import.meta.url);
const page = readFileSync(new URL("docs/security.md", ROOT), "utf8");
const claimed = [...new Set([...page.matchAll(/`(test\/[^`]+\.test\.ts)`/g)].map(([, path]) => path ?? ""))];

describe("docs/security.md", () => {
  test("holds its claims against tests", () => expect(claimed.length).toBeGreaterThan(5));

  test.each(claimed)("names %s, which is there", (path) => expect(existsSync(new URL(path, ROOT))).toBe(true));
});
