// What the SDK adds to a program that bundles it: without the OpenTelemetry packages, which such a host has or wants
// anyway, minified and gzipped. And that a program which takes one thing from it does not get the rest.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";

const LIMIT_BYTES = 60_000;
const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "agent-lifecycle-bundle-"));

/** Bytes of a program that uses this, minified and gzipped, with everything that it loads later. */
async function bundleSize(statement) {
  const input = join(folder, "entry.mjs");
  writeFileSync(input, statement);
  const bundle = await rolldown({
    input,
    platform: "node",
    external: [/^node:/, /^@opentelemetry\//],
    resolve: { modules: [join(root, "node_modules")] },
  });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  await bundle.close();
  const code = output.map((chunk) => (chunk.type === "chunk" ? chunk.code : "")).join("\n");
  return gzipSync(code, { level: 9 }).byteLength;
}

const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;

try {
  const everything = await bundleSize('export * from "@agent-lifecycle/sdk"; import "@agent-lifecycle/sdk/register";');
  const lifecycle = await bundleSize('export { createLifecycle } from "@agent-lifecycle/sdk";');
  const nothing = await bundleSize('import "@agent-lifecycle/sdk"; import "@agent-lifecycle/sdk/journal";');
  const journal = await bundleSize('export { openJournal } from "@agent-lifecycle/sdk/journal";');
  console.log(
    `bundle: createLifecycle ${kilobytes(lifecycle)}, with register ${kilobytes(everything)}, openJournal alone ${kilobytes(journal)}, ` +
      `imported and not used ${nothing} bytes (limit ${kilobytes(LIMIT_BYTES)})`,
  );
  const problems = [];
  if (everything > LIMIT_BYTES)
    problems.push(`the SDK takes ${kilobytes(everything)}, more than ${kilobytes(LIMIT_BYTES)}`);
  if (nothing > 200) problems.push(`the SDK is not tree-shakeable: ${nothing} bytes stay of what nobody uses`);
  if (journal >= lifecycle) problems.push("the journal brings the rest of the SDK along");
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
