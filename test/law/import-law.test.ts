// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the samples are source text
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  fileViolations,
  type ImportLaw,
  importCycles,
  importViolations,
  type PackageManifest,
  purityViolations,
} from "./import-law.ts";
import { REPOSITORY, readSources, type SourceFile } from "./workspace-source.ts";

const law = (await readJson("test/law/import-law.json")) as ImportLaw;
const manifests = Object.fromEntries(
  await Promise.all(
    law.workspaces.map(async (name) => [name, (await readJson(`${name}/package.json`)) as PackageManifest] as const),
  ),
);
const sources = await readSources("{proto,sdk,collector}/src/**/*.ts", "collector/board/**/*.{ts,tsx}");
const everything = [...sources, ...(await readSources("test/**/*.ts", "examples/**/*.{js,ts}"))];

async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(join(REPOSITORY, path), "utf8"));
}

describe("the sources keep the law", () => {
  test("there are sources to judge", () => {
    expect(sources.length).toBeGreaterThan(100);
  });

  test("of imports", () => {
    expect(importViolations(sources, law, manifests)).toEqual([]);
  });

  test("of importing in no circle", () => {
    expect(importCycles(everything)).toEqual([]);
  });

  test("of names and sizes", () => {
    expect(fileViolations(everything, law)).toEqual([]);
  });

  test("of purity", () => {
    expect(purityViolations(sources, law)).toEqual([]);
  });

  test("of using our packages by their doors, in tests and examples too", async () => {
    const data = await readSources("test/**/*.json", "examples/**/*.json");
    const outside = [...everything.filter(({ path }) => !sources.some((source) => source.path === path)), ...data];
    const open: ImportLaw = {
      ...law,
      units: ["test/", "examples/"].map((folder) => ({
        name: folder,
        files: [folder],
        mayImport: ["proto", "sdk", "collector"],
        packages: "declared",
        node: true,
        reason: "",
      })),
    };
    const undeclaredTools = /which (?:test|examples)\/package\.json does not declare$/;
    expect(importViolations(outside, open, manifests).filter((problem) => !undeclaredTools.test(problem))).toEqual([]);
  });
});

describe("the law", () => {
  const names = law.units.map(({ name }) => name);

  test("names only units and files that exist", () => {
    const known = new Set([...names, "sdk"]);
    expect(law.units.flatMap(({ mayImport }) => mayImport).filter((name) => !known.has(name))).toEqual([]);
    const paths = everything.map(({ path }) => path);
    expect(law.exceptions.map(({ file }) => file).filter((file) => !paths.includes(file))).toEqual([]);
  });

  test("lets receivers, exporters, store and api know nothing of each other", () => {
    const parts = ["receivers", "exporters", "store", "api"];
    for (const part of parts) {
      const unit = law.units.find(({ name }) => name === part) ?? expect.fail(`no unit ${part}`);
      expect(unit.mayImport.filter((name) => parts.includes(name))).toEqual([]);
    }
  });

  test("lets only the composition roots know the parts", () => {
    const parts = ["receivers", "exporters", "api", "server", "app"];
    const knowing = law.units.filter(({ mayImport }) => mayImport.some((name) => parts.includes(name)));
    expect(knowing.map(({ name }) => name).toSorted()).toEqual(["app", "cli", "collector", "server"]);
  });

  test("lets nothing of the collector but commands that produce events know the sdk", () => {
    const knowing = law.units.filter(({ mayImport }) => mayImport.includes("sdk"));
    expect(knowing.flatMap(({ files }) => files)).toEqual(["collector/src/cli/ingest/"]);
    for (const { file, mayImport } of law.exceptions) {
      expect(mayImport).toBe("sdk");
      expect(file).toMatch(/^collector\/src\/cli\//);
    }
  });
});

describe("a seeded violation is found:", () => {
  /** The sources with one more file, or with more in a file that is there. */
  function withText(path: string, text: string): readonly SourceFile[] {
    const known = sources.find((file) => file.path === path);
    if (known === undefined) return [...sources, { path, text }];
    return sources.map((file) => (file === known ? { path, text: `${file.text}\n${text}` } : file));
  }

  test.each([
    [
      "collector/src/core/projection/evidence.ts",
      'import type { Liveness } from "../liveness/liveness.ts";',
      "imports liveness",
    ],
    ["collector/src/core/projection/evidence.ts", 'import "../reconciliation/outcome.ts";', "imports reconciliation"],
    ["collector/src/core/projection/evidence.ts", 'import "../../app.ts";', "imports app"],
    ["collector/src/core/projection/evidence.ts", 'import { readFile } from "node:fs";', "imports node:fs"],
    ["collector/src/core/projection/evidence.ts", 'import "pino";', "imports pino"],
    ["proto/src/state.ts", 'import "node:crypto";', "imports node:crypto"],
    ["proto/src/state.ts", 'import "protobufjs";', "imports protobufjs"],
    ["proto/src/state.ts", 'import type { Lifecycle } from "@agent-lifecycle/sdk";', "imports sdk"],
    ["sdk/src/clock.ts", 'import type { ChildRecord } from "@agent-lifecycle/collector/parts";', "imports collector"],
    ["sdk/src/clock.ts", 'import "../../collector/src/app.ts";', "reaches into another package"],
    ["collector/src/app.ts", 'import { createLifecycle } from "@agent-lifecycle/sdk";', "imports sdk"],
    ["collector/src/store/store.ts", 'import "../receivers/otlp-http.ts";', "imports receivers"],
    ["collector/src/receivers/new.ts", 'import type { A } from "../api/register-api.ts";', "imports api"],
    ["collector/src/exporters/new.ts", 'import type { A } from "../store/store.ts";', "imports store port"],
    ["collector/src/runtime/new.ts", 'import "../store/sqlite/sqlite-store.ts";', "imports store"],
    ["collector/src/runtime/new.ts", 'import "../core/projection/evidence.ts";', "imports projection"],
    ["collector/src/runtime/new.ts", 'import "@agent-lifecycle/proto/src/state.ts";', "does not export"],
    ["collector/src/runtime/new.ts", 'import "left-pad";', "does not declare"],
    ["collector/src/runtime/new.ts", 'import "fs";', "without node:"],
    ["collector/src/runtime/new.ts", 'export * from "./clock.ts";', "re-exports all"],
    ["collector/src/runtime/new.ts", 'import "./nothing.ts";', "no source file"],
    ["collector/src/elsewhere/new.ts", "", "belongs to no unit"],
    ["collector/src/http/new.ts", 'import "../cli/main.ts";', "imports cli"],
    ["collector/board/app.tsx", 'import "../src/app.ts";', "imports app"],
    ["collector/src/client/follow.ts", 'import "../api/openapi.ts";', "imports api"],
  ])("%s with %s", (path, text, problem) => {
    const found = importViolations(withText(path, text), law, manifests);
    const known = importViolations(sources, law, manifests);
    const added = found.filter((violation) => !known.includes(violation));
    expect(added).toContainEqual(expect.stringContaining(problem));
    expect(added.filter((violation) => !violation.startsWith(path))).toEqual([]);
  });

  test("an import in a circle", () => {
    const files = [
      { path: "a/one.ts", text: 'import "./two.ts";' },
      { path: "a/two.ts", text: 'import type { Three } from "./three.ts";' },
      { path: "a/three.ts", text: 'export { one } from "./one.ts";' },
      { path: "a/four.ts", text: 'import "./one.ts"; import "./two.ts";' },
    ];
    expect(importCycles(files)).toEqual([["a/one.ts", "a/two.ts", "a/three.ts", "a/one.ts"]]);
  });

  test.each([
    ["sdk/src/utils.ts", "", "says nothing"],
    ["sdk/src/types.ts", "", "says nothing"],
    ["sdk/src/adapters/index.ts", "", "an index file"],
    ["sdk/src/long.ts", "//\n".repeat(401), "401 lines"],
    ["sdk/src/big.ts", " ".repeat(12_289), "12289 bytes"],
  ])("a file %s", (path, text, problem) => {
    expect(fileViolations([{ path, text }], law)).toEqual([expect.stringContaining(problem)]);
  });

  test.each([
    ["const now = Date.now();", "Date"],
    ["const r = Math.random();", "Math.random"],
    ["const r = Math\n.random();".replace("\n", " "), "Math.random"],
    ["setTimeout(() => {}, 1);", "setTimeout"],
    ["export async function f() {}", "async"],
    ["names.sort((a, b) => a.localeCompare(b));", "localeCompare"],
    ["console.log(`${process.pid}`);", "console"],
  ])("in the core, %s", (text, what) => {
    const found = purityViolations([{ path: "collector/src/core/projection/new.ts", text }], law);
    expect(found).toContain(`collector/src/core/projection/new.ts:1 uses ${what}`);
    expect(purityViolations([{ path: "sdk/src/new.ts", text }], law)).toEqual([]);
  });
});

describe("the compiler keeps the pure projects pure", () => {
  test.each([
    ["collector/src/core/tsconfig.json", /^es2023$/],
    ["proto/tsconfig.json", /^es20\d\d(?:\.\w+)?$/],
  ])("%s sees the language and no environment", async (path, library) => {
    const base = (await readJson("tsconfig.base.json")) as Configuration;
    const own = (await readJson(path)) as Configuration;
    expect(own.extends).toMatch(/\/tsconfig\.base\.json$/);
    const { types, lib, strict } = { ...base.compilerOptions, ...own.compilerOptions };
    expect({ types, strict }).toEqual({ types: [], strict: true });
    expect(lib?.filter((name) => !library.test(name))).toEqual([]);
  });
});

interface Configuration {
  readonly extends?: string;
  readonly compilerOptions: {
    readonly types?: readonly string[];
    readonly lib?: readonly string[];
    readonly strict?: boolean;
  };
}
