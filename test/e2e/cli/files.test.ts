import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { VISIBILITY_UNAVAILABLE } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../kit/event-file.ts";
import { makeEvent } from "../../kit/events.ts";
import { runCommand } from "../../kit/program.ts";

const GOOD_LINES = [
  makeEvent({ sequence: 0, state: "created" }),
  makeEvent({ sequence: 1, state: "starting", at: 1 }),
  makeEvent({ sequence: 2, state: "running", at: 2 }),
].map((event) => JSON.stringify(event));

const BAD_LINES = ["{", '{"schemaVersion":1,"childId":"half an event"}', `"${"x".repeat(70_000)}"`];

function file(lines: readonly string[], ending = "\n"): string {
  const path = join(temporaryDirectory(), "events.jsonl");
  writeFileSync(path, lines.join("\n") + ending);
  return path;
}

describe("validate", () => {
  test("passes a file of events", async () => {
    const { exitCode, stdout } = await runCommand(["validate", file(GOOD_LINES)]);
    expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 0, stdout: "3 valid events, 0 problems\n" });
  });

  test("names every bad line, counts the good ones around it, and ends with 1", async () => {
    const [first = "", second = "", third = ""] = GOOD_LINES;
    const [broken = "", invalid = "", oversize = ""] = BAD_LINES;
    const path = file([first, broken, second, invalid, oversize, third, '{"cut":'], "");
    const { exitCode, stdout } = await runCommand(["validate", path]);
    expect(exitCode).toBe(1);
    const lines = stdout.toString().trimEnd().split("\n");
    expect(lines).toEqual([
      expect.stringMatching(/^line 2 \(byte \d+\): malformed: /),
      expect.stringMatching(/^line 4 \(byte \d+\): invalid_event: \S+: /),
      expect.stringMatching(/^line 5 \(byte \d+\): oversize: /),
      expect.stringMatching(/^line 7 \(byte \d+\): truncated: /),
      "3 valid events, 4 problems",
    ]);
    const json = JSON.parse((await runCommand(["validate", "--json", path])).stdout.toString()) as {
      readonly findings: readonly { readonly line: number; readonly diagnostic: { readonly code: string } }[];
    };
    expect(json).toMatchObject({ valid: 3, problems: 4 });
    expect(json.findings.map(({ line, diagnostic }) => [line, diagnostic.code])).toEqual([
      [2, "malformed"],
      [4, "invalid_event"],
      [5, "oversize"],
      [7, "truncated"],
    ]);
  });

  test("reads standard input", async () => {
    const good = await runCommand(["validate", "-"], { input: `${GOOD_LINES.join("\r\n")}\r\n` });
    expect({ exitCode: good.exitCode, stdout: good.stdout.toString() }).toEqual({
      exitCode: 0,
      stdout: "3 valid events, 0 problems\n",
    });
    expect((await runCommand(["validate", "-"], { input: "{\n" })).exitCode).toBe(1);
  });

  test("shows no secret of a line it objects to", async () => {
    const { stdout } = await runCommand(["validate", "-"], { input: '{"password": "hunter2-EXAMPLE"\n' });
    expect(stdout.toString()).toContain("malformed");
    expect(stdout.toString()).not.toContain("hunter2");
  });
});

const VECTORS = fileURLToPath(new URL("../../contract/vectors", import.meta.url));

describe("conform", () => {
  test("passes all 42 vectors of the contract", async () => {
    const { exitCode, stdout } = await runCommand(["conform", VECTORS]);
    expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 0, stdout: "42 passed, 0 failed\n" });
  });

  test("fails with 1 when a vector expects something else, and says what", async () => {
    const directory = join(temporaryDirectory(), "vectors");
    cpSync(VECTORS, directory, { recursive: true });
    const path = join(directory, "01-legal-path-to-completed.json");
    writeFileSync(
      path,
      readFileSync(path, "utf8").replace('"state": "starting"\n   }\n', '"state": "waiting"\n   }\n'),
    );
    const { exitCode, stdout } = await runCommand(["conform", directory]);
    expect(exitCode).toBe(1);
    const lines = stdout.toString().trimEnd().split("\n");
    expect(lines[0]).toBe("FAILED 01-legal-path-to-completed.json");
    expect(lines.slice(1, -1).join("\n")).toMatch(/state\n +expected "?waiting"?\n +actual +"?starting"?/);
    expect(lines.at(-1)).toBe("41 passed, 1 failed");
  });

  test("does not pass a vector that it cannot read, nor an empty directory", async () => {
    const directory = temporaryDirectory();
    const empty = await runCommand(["conform", directory]);
    expect(empty.exitCode).toBe(2);
    expect(empty.stderr.toString()).toContain("no vectors");
    writeFileSync(join(directory, "broken.json"), "{");
    const broken = await runCommand(["conform", directory]);
    expect(broken.exitCode).toBe(1);
    expect(broken.stdout.toString()).toMatch(/^UNREADABLE broken\.json\n[\s\S]*0 passed, 1 failed\n$/);
  });
});

describe("replay of a file", () => {
  test("prints the projection it folds to", async () => {
    const path = file(GOOD_LINES);
    const table = await runCommand(["replay", path]);
    expect(table.exitCode).toBe(0);
    expect(table.stdout.toString()).toMatch(/^child-1 +▶ running /m);
    const json = await runCommand(["replay", "--json", path]);
    expect(JSON.parse(json.stdout.toString())).toMatchObject({
      childId: "child-1",
      state: "running",
      highestSequence: 2,
      provisional: false,
    });
  });

  test("keeps what is valid around bad lines, says how many were none, and ends with 1", async () => {
    const { exitCode, stdout, stderr } = await runCommand(["replay", "--json", file([...BAD_LINES, ...GOOD_LINES])]);
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout.toString())).toMatchObject({ childId: "child-1", state: "running" });
    expect(stderr.toString()).toContain("3 lines are no events");
  });

  test("without any evidence shows no rows and the one sentence (D2)", async () => {
    const { exitCode, stdout } = await runCommand(["replay", "-"], { input: "" });
    expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 0, stdout: `${VISIBILITY_UNAVAILABLE}\n` });
  });
});
