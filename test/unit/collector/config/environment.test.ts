// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how a configuration file refers to the environment
import { describe, expect, it, test } from "vitest";
import { load, problemsOf } from "./load-text.ts";

const pathIn = (text: string, environment: Readonly<Record<string, string>> = {}): string =>
  load(`storage:\n  path: ${text}`, environment).configuration.storage.path;

describe("a value of a file takes from the environment", () => {
  test.each([
    ["/${env:NAME}.db", { NAME: "lifecycle" }, "/lifecycle.db"],
    ['"/${env:ONE}/${env:TWO}"', { ONE: "a", TWO: "b" }, "/a/b"],
    ["/${env:NAME:-usual}.db", {}, "/usual.db"],
    ["/${env:NAME:-usual}.db", { NAME: "" }, "/usual.db"],
    ["/${env:NAME:-usual}.db", { NAME: "own" }, "/own.db"],
    ["/a$$b/$${env:NAME}", { NAME: "x" }, "/a$b/${env:NAME}"],
    ["/a$b", {}, "/a$b"],
    ["/${env:NAME}", { NAME: "${env:OTHER}", OTHER: "never" }, "/${env:OTHER}"],
  ])("%s", (text, environment, path) => {
    expect(pathIn(text, environment)).toBe(path);
  });

  it("and never structure: what comes in stays one value", () => {
    const environment = { NAME: "x, synchronous: normal }\nlifecycle: { missing_grace: 9" };
    const { configuration, problems } = load("storage: { path: '/${env:NAME}' }", environment);
    expect(problems).toEqual([]);
    expect(configuration.storage).toMatchObject({ path: `/${environment.NAME}`, synchronous: "full" });
    expect(configuration.lifecycle.missingGrace).toBe(2);
  });

  it("numbers and booleans where there are no quotes", () => {
    const text = "lifecycle:\n  missing_grace: ${env:GRACE}\naccess:\n  insecure_public_bind: ${env:OPEN}";
    const { configuration, problems } = load(text, { GRACE: "5", OPEN: "true" });
    expect(problems).toEqual([]);
    expect(configuration.lifecycle.missingGrace).toBe(5);
    expect(configuration.access.insecurePublicBind).toBe(true);
  });

  it("texts where there are quotes", () => {
    expect(problemsOf('lifecycle: { missing_grace: "${env:GRACE}" }', { GRACE: "5" })).toEqual([
      "1:14 lifecycle.missing_grace: must be a whole number above 0",
    ]);
  });
});

describe("what cannot be replaced is a problem with its place", () => {
  test.each([
    ["${env:MISSING}", "the environment variable MISSING is not set, and has no default here"],
    ["${MISSING}", "a reference must be ${env:NAME} or ${env:NAME:-default}; two dollar signs stand for one"],
    ["${file:x}", "a reference must be ${env:NAME} or ${env:NAME:-default}; two dollar signs stand for one"],
    ["'${env:A'", "a reference must be ${env:NAME} or ${env:NAME:-default}; two dollar signs stand for one"],
  ])("%s", (text, words) => {
    expect(problemsOf(`storage:\n  path: ${text}`)).toEqual([`2:9 storage.path: ${words}`]);
  });

  it("also for names that every object has", () => {
    expect(problemsOf("storage: { path: '${env:constructor}' }")[0]).toContain("variable constructor is not set");
  });
});

it("inside braces needs quotes, as YAML has it, and is told so", () => {
  expect(problemsOf("storage: { path: ${env:NAME} }")[0]).toMatch(
    /^1:\d+ is no YAML here; a reference .* needs quotes/,
  );
});

it("does not replace names of members", () => {
  expect(problemsOf("'${env:NAME}': 1", { NAME: "api" })).toEqual(["1:1 ${env:NAME}: is not known here"]);
});
