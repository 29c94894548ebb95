// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the samples are source text
import { describe, expect, test } from "vitest";
import { scanSource } from "./source-scan.ts";

const importsOf = (text: string) => scanSource(text).imports.map(({ specifier }) => specifier);

describe("every way of importing is found", () => {
  test.each([
    ['import { a } from "x";'],
    ["import { a } from 'x';"],
    ['import a, { type B } from "x";'],
    ['import type { A } from "x";'],
    ['import * as a from "x";'],
    ['import {\n  a,\n  b,\n} from "x";'],
    ['import "x";'],
    ['export { a } from "x";'],
    ['export type { A } from "x";'],
    ['export * from "x";'],
    ['export * as a from "x";'],
    ['const a = await import("x");'],
    ['type A = import("x").A;'],
    ['const a = require("x");'],
    ['/* a */ import /* b */ { a } /* c */ from /* d */ "x"; // e'],
    ['const a = `${1}`; import "x";'],
    ["const a = /[\"'`/]/; import 'x';"],
    ["const a = `it's ${`deep ${'}'}`} \\``; import 'x';"],
    ["const a = b / c; const d = 'e/f'; import 'x';"],
    ['import data from "x" with { type: "json" };'],
  ])("%s", (text) => {
    expect(importsOf(text)).toEqual(["x"]);
  });

  test("with its line, and whether it re-exports everything", () => {
    expect(scanSource('import "a";\n\nexport * from "b";\n').imports).toEqual([
      { specifier: "a", line: 1, isExportAll: false },
      { specifier: "b", line: 3, isExportAll: true },
    ]);
  });
});

describe("what only looks like an import is not", () => {
  test.each([
    ['// import "x";'],
    ['/* import "x"; */'],
    ["const a = 'import \"x\";';"],
    ['const a = `import "x"; export * from "x"`;'],
    ['const a = /import "x"/;'],
    ['const a = { from: "x" };'],
    ['const important = "x";'],
  ])("%s", (text) => {
    expect(importsOf(text)).toEqual([]);
  });
});

describe("code is told from text", () => {
  test.each([
    ["`a ${process.pid} b`", true],
    ["`a process b`", false],
    ['"process"', false],
    ["// process", false],
    ["/** process */", false],
    ["/process/", false],
    ["a / process / b", true],
    ["`${`${process}`}`", true],
  ])("%s", (text, isCode) => {
    expect(scanSource(text).code.includes("process")).toBe(isCode);
  });
});
