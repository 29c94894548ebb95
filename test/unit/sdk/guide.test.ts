import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const ROOT = new URL("../../../", import.meta.url);
const guide = readFileSync(new URL("docs/sdk.md", ROOT), "utf8");
const readme = readFileSync(new URL("sdk/README.md", ROOT), "utf8");
const sources = globSync("sdk/src/**/*.ts", { cwd: ROOT })
  .map((path) => readFileSync(new URL(path, ROOT), "utf8"))
  .join("\n");

describe("the guide of the SDK", () => {
  it("names variables, counters and reasons that there are", () => {
    const variables = `${guide}${readme}`.match(/\bAGENT_LIFECYCLE_[A-Z_]*[A-Z]\b/g) ?? [];
    const reasons = guide.match(/\b[a-z]+_[a-z_]*[a-z]\b/g) ?? [];
    const named = [...new Set([...variables, ...reasons])].filter((name) => !name.startsWith("agent_lifecycle"));
    expect(named.length).toBeGreaterThan(15);
    // What the collector's side and the language itself are called is not the SDK's.
    const others = ["visibility_mismatch", "jsonl_file"];
    expect(named.filter((name) => !sources.includes(name) && !others.includes(name))).toEqual([]);
  });

  it("names every variable that the SDK reads", () => {
    const read = new Set(sources.match(/\bAGENT_LIFECYCLE_[A-Z_]*[A-Z]\b/g) ?? []);
    // The root's is written as the parent's with another ending.
    const said = `${guide}${readme}`.replaceAll("_ROOT_CHILD_ID", "AGENT_LIFECYCLE_ROOT_CHILD_ID");
    expect([...read].filter((name) => !said.includes(name))).toEqual([]);
  });

  it("quotes the defaults that hold", () => {
    expect(sources).toContain("maxBufferedEvents: 131_072");
    expect(guide).toContain("131,072 events and 128 MiB");
    expect(sources).toContain("maxBufferedBytes: 128 * 1024 * 1024");
    expect(sources).toContain("exitTimeoutMs: 2_000");
    expect(sources).toContain("exportTimeoutMs: 30_000");
    expect(sources).toContain("FOREIGN_LEASE_MS = 15 * 60_000");
    expect(sources).toContain("DEFAULT_LOCK_TIMEOUT_MS = 5_000");
    expect(sources).toContain("DEFAULT_RECLAIM_AFTER_MS = 10_000");
  });
});
