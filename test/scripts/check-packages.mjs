// What a user would install, checked as it would be published: contents, entry points, and types in every resolution mode.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "agent-lifecycle-packages-"));

function run(program, programArguments, cwd) {
  return execFileSync(join(root, "node_modules/.bin", program), programArguments, { cwd, stdio: "inherit" });
}

try {
  for (const name of ["proto", "sdk", "collector"]) {
    const cwd = join(root, name);
    const packed = execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], { cwd });
    const parsed = JSON.parse(String(packed));
    const [{ filename }] = Array.isArray(parsed) ? parsed : Object.values(parsed);
    run("publint", ["--strict", "--pack", "npm", "."], cwd);
    // ESM only: a CommonJS host imports it dynamically.
    run("attw", [join(folder, filename), "--profile", "esm-only"], cwd);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
