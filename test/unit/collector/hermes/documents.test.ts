import { readFileSync } from "node:fs";
import { receiversInUse } from "@agent-lifecycle/collector/parts";
import { expect, test } from "vitest";
import { load } from "../config/load-text.ts";

const ROOT = new URL("../../../../", import.meta.url);

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), "utf8");
}

function yamlBlocks(path: string): readonly string[] {
  return [...read(path).matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => String(text));
}

test.each([
  ["examples/hermes/collector.yaml", [read("examples/hermes/collector.yaml")]],
  ["examples/hermes/README.md", yamlBlocks("examples/hermes/README.md")],
  ["docs/hermes.md", yamlBlocks("docs/hermes.md")],
])("what %s configures can be used", (_path, texts) => {
  expect(texts.length).toBeGreaterThan(0);
  for (const text of texts) {
    const { configuration, problems } = load(text);
    expect(problems).toEqual([]);
    expect(receiversInUse(configuration)).toContainEqual(expect.objectContaining({ id: "hermes/local" }));
  }
});
