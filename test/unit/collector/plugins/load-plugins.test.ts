import { loadPlugins, type PluginProblem, type PluginSpecification } from "@agent-lifecycle/collector/parts";
import { describe, expect, test } from "vitest";
import { ManualTimers } from "../../../kit/manual-timers.ts";
import { moduleFolder, moduleText, specification } from "./module-folder.ts";

async function problemsOf(
  files: Readonly<Record<string, string>>,
  ...specifications: readonly PluginSpecification[]
): Promise<readonly PluginProblem[]> {
  return (await loadPlugins(specifications, { folder: moduleFolder(files) })).problems;
}

describe("a module", () => {
  test.each(["receiver", "exporter", "snapshot_source"] as const)("is loaded for its %s", async (kind) => {
    const folder = moduleFolder({ "mine.mjs": moduleText() });
    const { plugins, problems } = await loadPlugins([specification({ kind })], { folder });
    expect(problems).toEqual([]);
    expect(plugins).toMatchObject([{ kind, options: {}, create: expect.any(Function) }]);
  });

  test("is found by its path, from the configuration's folder, and by the name of a package beside it", async () => {
    const folder = moduleFolder({
      "deep/mine.mjs": moduleText(),
      "node_modules/theirs/package.json": '{ "name": "theirs", "type": "module", "exports": "./entry.js" }',
      "node_modules/theirs/entry.js": moduleText(),
    });
    const specifications = ["./deep/mine.mjs", `${folder}/deep/mine.mjs`, "theirs"].map((module, index) =>
      specification({ module, id: `module/${index}` }),
    );
    const { plugins, problems } = await loadPlugins(specifications, { folder });
    expect(problems).toEqual([]);
    expect(plugins).toHaveLength(3);
  });

  test.each([
    ["that is not there", "./none.mjs", "", "none.mjs"],
    ["that is no JavaScript", "./mine.mjs", "export const = ;", "cannot be loaded"],
    ["that throws", "./mine.mjs", 'throw new Error("no license");', "no license"],
    ["of a package that is not installed", "not-installed-anywhere", "", "install it beside the configuration"],
  ])("%s is a problem with its path", async (_what, module, text, part) => {
    const problems = await problemsOf({ "mine.mjs": text }, specification({ module }));
    expect(problems).toEqual([{ path: ["receivers", "module/mine", "module"], text: expect.stringContaining(part) }]);
  });

  test("of a package without a default entry is told apart from one that is not installed", async () => {
    const files = {
      "node_modules/theirs/package.json": '{ "name": "theirs", "exports": { ".": { "browser": "./entry.js" } } }',
    };
    expect(await problemsOf(files, specification({ module: "theirs" }))).toEqual([
      {
        path: ["receivers", "module/mine", "module"],
        text: expect.stringContaining('no entry under the condition "default"'),
      },
    ]);
  });

  test("that never ends its loading is given up", async () => {
    const timers = new ManualTimers();
    const folder = moduleFolder({ "mine.mjs": "await new Promise(() => {});" });
    const loading = loadPlugins([specification()], { folder, schedule: timers.schedule, loadTimeoutMs: 1_000 });
    timers.letPass(1_000);
    expect((await loading).problems).toEqual([
      { path: ["receivers", "module/mine", "module"], text: "./mine.mjs was not loaded within 1000 ms" },
    ]);
  });

  test("without the function is a problem that says what there is", async () => {
    const text = "export const componentApiVersion = 1; export const createExporter = () => {};";
    expect(await problemsOf({ "mine.mjs": text }, specification())).toEqual([
      {
        path: ["receivers", "module/mine", "module"],
        text: "./mine.mjs exports no function createReceiver; it exports componentApiVersion, createExporter",
      },
    ]);
  });

  test.each([
    ["", "does not say which version it is written for"],
    ["export const componentApiVersion = 2;", "version 2 of components; this collector knows version 1"],
  ])("of another version is refused: %s", async (statement, part) => {
    const text = `${statement} export const createReceiver = () => {};`;
    expect(await problemsOf({ "mine.mjs": text }, specification())).toEqual([
      { path: ["receivers", "module/mine", "module"], text: expect.stringContaining(part) },
    ]);
  });
});

describe("options", () => {
  const SCHEMA = `export const optionsSchema = {
    type: "object",
    properties: {
      port: { type: "integer", minimum: 1 },
      mode: { enum: ["fast", "safe"], default: "safe" },
      nested: { type: "object", properties: { "a/b": { type: "string" } } },
    },
    required: ["port"],
    additionalProperties: false,
  };`;

  test("are given with the schema's defaults, and what was configured stays as it is", async () => {
    const folder = moduleFolder({ "mine.mjs": moduleText(SCHEMA) });
    const options = { port: 1 };
    const { plugins } = await loadPlugins([specification({ options })], { folder });
    expect(plugins[0]?.options).toEqual({ port: 1, mode: "safe" });
    expect(options).toEqual({ port: 1 });
  });

  test("come out with all their problems at once, and without any value", async () => {
    const options = { port: "s3cret", mode: "s3cret", extra: "s3cret", nested: { "a/b": 5 } };
    const problems = await problemsOf({ "mine.mjs": moduleText(SCHEMA) }, specification({ options }));
    const at = ["receivers", "module/mine", "options"];
    expect(problems).toHaveLength(4);
    expect(problems).toEqual(
      expect.arrayContaining([
        { path: [...at, "extra"], text: "is no option of this module" },
        { path: [...at, "port"], text: "must be integer" },
        { path: [...at, "mode"], text: "must be one of fast, safe" },
        { path: [...at, "nested", "a/b"], text: "must be string" },
      ]),
    );
    expect(JSON.stringify(problems)).not.toContain("s3cret");
  });

  test("cannot be checked by a schema that is none", async () => {
    const text = moduleText('export const optionsSchema = { type: "sometimes" };');
    expect(await problemsOf({ "mine.mjs": text }, specification())).toEqual([
      {
        path: ["receivers", "module/mine", "options"],
        text: expect.stringContaining("optionsSchema is no JSON Schema"),
      },
    ]);
  });
});

describe("several modules", () => {
  test("have all their problems found, and the good ones loaded", async () => {
    const folder = moduleFolder({ "mine.mjs": moduleText(), "bad.mjs": "" });
    const { plugins, problems } = await loadPlugins(
      [
        specification({ id: "module/bad", module: "./bad.mjs", path: ["receivers", "module/bad"] }),
        specification(),
        specification({ id: "module/none", module: "./none.mjs", path: ["receivers", "module/none"] }),
      ],
      { folder },
    );
    expect(plugins.map(({ specification: { id } }) => id)).toEqual(["module/mine"]);
    expect(new Set(problems.map(({ path }) => path.join(" ")))).toEqual(
      new Set(["receivers module/bad module", "receivers module/none module"]),
    );
  });

  test("may not share a name", async () => {
    const problems = await problemsOf({ "mine.mjs": moduleText() }, specification(), specification());
    expect(problems).toEqual([
      { path: ["receivers", "module/mine"], text: "there is another receiver named module/mine" },
    ]);
  });
});

describe("a name", () => {
  test.each(["otlp_http", "module/", "module/a b", "module/a/b", `module/${"x".repeat(64)}`])(
    "is a bounded label: not %s",
    async (id) => {
      const problems = await problemsOf({ "mine.mjs": moduleText() }, specification({ id }));
      expect(problems).toEqual([{ path: ["receivers", "module/mine"], text: expect.stringContaining("module/NAME") }]);
    },
  );
});
