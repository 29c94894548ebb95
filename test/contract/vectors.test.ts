import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  formatReport,
  type ParsedVector,
  parseVector,
  runDirectory,
  runVector,
} from "@agent-lifecycle/collector/parts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { alterationsOf } from "./alter-expectations.ts";

const VECTORS = fileURLToPath(new URL("./vectors/", import.meta.url));
const files = (await readdir(VECTORS)).filter((file) => file.endsWith(".json")).toSorted();
const vectors: readonly { readonly file: string; readonly raw: unknown }[] = await Promise.all(
  files.map(async (file) => ({ file, raw: JSON.parse(await readFile(join(VECTORS, file), "utf8")) })),
);

function problemsOf(parsed: ParsedVector): readonly unknown[] {
  return parsed.ok ? runVector(parsed.vector) : parsed.problems;
}

test("the contract comes with 42 vectors", () => {
  expect(files).toHaveLength(42);
});

describe.each(vectors)("$file", ({ raw }) => {
  test("holds", () => {
    expect(problemsOf(parseVector(raw))).toEqual([]);
  });

  test("fails when any single expectation in it is altered", () => {
    const survivors = alterationsOf(raw)
      .filter(({ altered }) => {
        const parsed = parseVector(altered);
        if (!parsed.ok) throw new Error(`the alteration is no vector: ${parsed.problems.join("; ")}`);
        return runVector(parsed.vector).length === 0;
      })
      .map(({ what }) => what);
    expect(survivors).toEqual([]);
  });
});

describe("a vector that is not understood", () => {
  const [first] = vectors;
  const sound = JSON.stringify(first?.raw);

  test.each([
    ["an unknown expectation", '"status":"applied"', '"status":"applied","colour":"red"', "steps.0.expect.colour"],
    ["an unknown step kind", '"receivedAt"', '"snapshot":{},"receivedAt"', "exactly one of"],
    ["a step without a kind", '"event":{', '"evnt":{', "exactly one of"],
    ["an unknown status", '"status":"applied"', '"status":"accepted"', "steps.0.expect.status"],
    ["a missing status", '"status":"applied",', "", "steps.0.expect.status: is missing"],
    ["an unknown member of a record", '"stale":false', '"stale":false,"pid":1', "final.0.pid"],
    ["a missing member of a record", '"stale":false,', "", "final.0.stale: is missing"],
    ["a time that is none", '"receivedAt":"2026-09-01T09:00:00.000Z"', '"receivedAt":"soon"', "steps.0.receivedAt"],
    ["a gap that is no range", '"gaps":[]', '"gaps":[[3,1]]', "final.0.gaps.0"],
    ["an unknown option", '"missingGrace":2', '"missingGrace":2,"grace":1', "options.grace"],
  ])("is refused, with the path: %s", (_what, from, to, problem) => {
    expect(sound).toContain(from);
    const parsed = parseVector(JSON.parse(sound.replace(from, to)));
    expect(parsed).toMatchObject({ ok: false, problems: expect.arrayContaining([expect.stringContaining(problem)]) });
  });

  test.each([[null], [[]], ["vector"], [{}], [{ steps: 1, final: {} }]])("is refused without a crash: %j", (raw) => {
    expect(parseVector(raw).ok).toBe(false);
  });
});

describe("a directory of vectors", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "vectors-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  test("is reported file by file, with every difference", async () => {
    const [first, second] = vectors;
    const wrong = JSON.stringify(second?.raw).replace(
      '"state":"failed","stale":false',
      '"state":"failed","stale":true',
    );
    await writeFile(join(directory, "a.json"), JSON.stringify(first?.raw));
    await writeFile(join(directory, "b.json"), wrong);
    await writeFile(join(directory, "c.json"), "{");
    await writeFile(join(directory, "notes.txt"), "no vector");
    const report = await runDirectory(directory);
    expect(report).toMatchObject({ passed: 1, failed: 2 });
    const text = formatReport(report);
    expect(text).toContain("FAILED b.json");
    expect(text).toContain("stale\n    expected true\n    actual   false");
    expect(text).toContain("UNREADABLE c.json");
    expect(text).toMatch(/1 passed, 2 failed\n$/);
  });

  test("without any vector does not pass", async () => {
    await expect(runDirectory(directory)).rejects.toThrow("no vectors");
  });
});
