import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../kit/event-file.ts";
import { runCommand, startProgram } from "../../kit/program.ts";

const COMMANDS = [
  "collector",
  "config",
  "run",
  "adopt",
  "ingest",
  "hook",
  "status",
  "watch",
  "tail",
  "mcp",
  "validate",
  "replay",
  "verify",
  "journal",
  "backup",
  "conform",
  "doctor",
];

/** What a command asks for before it looks at the rest. */
const REQUIRED_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  adopt: ["--pid", "1"],
  ingest: ["--format", "codex-exec"],
};

describe("help", () => {
  test("lists every command", async () => {
    const { exitCode, stdout } = await runCommand(["--help"]);
    expect(exitCode).toBe(0);
    const listed = [...stdout.toString().matchAll(/^ {2}([a-z]+) .*$/gm)].map(([, name]) => name);
    expect(listed.filter((name) => name !== "help")).toEqual(COMMANDS);
  });

  test.each(COMMANDS)("of %s says what it does and shows an example", async (command) => {
    const { exitCode, stdout, stderr } = await runCommand([command, "--help"]);
    expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout.toString()).toMatch(new RegExp(`^Usage: agent-lifecycle ${command} `));
    expect(stdout.toString()).toMatch(new RegExp(`^Examples?:\n +agent-lifecycle ${command} `, "m"));
  });
});

describe("what cannot be done is said in one sentence on standard error, with exit code 2", () => {
  const database = ["--database", "unused.db"];
  const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
    ["no command", [], /^Usage: agent-lifecycle/],
    ["an unknown command", ["strat"], /^error: unknown command 'strat'/],
    ...COMMANDS.filter((command) => command !== "run").map(
      (command) =>
        [
          `an unknown option of ${command}`,
          [command, ...(REQUIRED_OPTIONS[command] ?? []), "--frobnicate"],
          /^error: unknown option '--frobnicate'\n/,
        ] as const,
    ),
    ["a missing argument", ["validate"], /^error: missing required argument 'file'\n/],
    ["a missing file", ["validate", "missing.jsonl"], /^agent-lifecycle: ENOENT: .*missing\.jsonl'\n$/],
    ["a number that is none", ["status", "--limit", "many"], /^error: option '--limit <children>' argument 'many'/],
    ["a pause of no time", ["watch", "--interval-ms", "0"], /^error: option '--interval-ms .*It must be at least 1/],
    ["an address that is none", ["status", "--url", "nonsense"], /^agent-lifecycle: --url must be an address/],
    ["two things to replay", ["replay", "a.jsonl", ...database], /^agent-lifecycle: replay takes either/],
    [
      "a port that is none",
      ["collector", ...database, "--api-port", "70000"],
      /\n {2}api\.endpoint: is no port: 70000\n/,
    ],
    [
      "a threshold below twice the heartbeat interval (S8)",
      ["collector", ...database, "--source-freshness", "runner:1000:600"],
      /lifecycle\.sources\.runner: staleAfter 1000 ms is below twice the declared heartbeat interval of 600 ms/,
    ],
    [
      "an open door without a lock",
      ["collector", ...database, "--ingest-host", "0.0.0.0"],
      /receivers\.otlp\.protocols\.http\.endpoint: 0\.0\.0\.0 is reachable by others without a token: set --ingest-token, or say --insecure-public-bind/,
    ],
    [
      "everything wrong with a configuration, at once",
      ["collector", ...database, "--stale-after-ms", "0", "--missing-grace", "0", "--api-host", "::"],
      /lifecycle\.stale_after: [\s\S]*lifecycle\.missing_grace: [\s\S]*api\.endpoint: /,
    ],
  ];
  test.each(cases)("%s", async (_, argv, sentence) => {
    const workingDirectory = temporaryDirectory();
    const { exitCode, stdout, stderr } = await runCommand(argv, { workingDirectory });
    expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr.toString()).toMatch(sentence);
    expect(stderr.toString()).not.toMatch(/^ +at /m);
    expect(existsSync(join(workingDirectory, "unused.db"))).toBe(false);
  });
});

test("run answers with 125 what it cannot do itself: all other exit codes are the command's", async () => {
  for (const argv of [["run", "--frobnicate"], ["run"]]) {
    const { exitCode, stdout, stderr } = await runCommand(argv);
    expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 125, stdout: "" });
    expect(stderr.toString()).toMatch(
      /^error: (?:unknown option '--frobnicate'|missing required argument 'command')\n/,
    );
  }
});

const REPOSITORY = fileURLToPath(new URL("../../../", import.meta.url));

/** Every file that a person starts with `node`. */
const ENTRY_POINTS = ["collector/bin/agent-lifecycle.js", "examples/demo/main.js", "test/bench/main.js"];

const SENTENCE = /^.+ needs Node\.js 24 or newer; this is [\d.]+\n$/;

async function versionOf(node: string): Promise<string> {
  return (await startProgram(node, ["-p", "process.versions.node"]).end).stdout.toString().trim();
}

/** A Node.js older than we need, outside of this repository's packages. */
async function findOldNode(): Promise<string | undefined> {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
  for (const folder of new Set(folders)) {
    const node = join(folder, process.platform === "win32" ? "node.exe" : "node");
    if (existsSync(node) && Number((await versionOf(node)).split(".")[0]) < 24) return node;
  }
  return undefined;
}

describe("a Node.js that is too old", () => {
  test.each(ENTRY_POINTS)("is told so in one line by %s, with exit code 2", async (entryPoint) => {
    // Only what the entry point asks is changed: the check itself runs as it is.
    const pretend = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"22.15.0"}})';
    const path = join(REPOSITORY, entryPoint);
    const { exitCode, stdout, stderr } = await startProgram(process.execPath, ["--import", pretend, path]).end;
    expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr.toString()).toMatch(SENTENCE);
    expect(stderr.toString()).toContain("22.15.0");
  });

  for (const entryPoint of ENTRY_POINTS) {
    test(`a real one, too, by ${entryPoint}`, async (context) => {
      const oldNode = await findOldNode();
      if (oldNode === undefined) return context.skip("this machine has no Node.js older than 24 on its PATH");
      const { exitCode, stdout, stderr } = await startProgram(oldNode, [join(REPOSITORY, entryPoint)]).end;
      expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 2, stdout: "" });
      expect(stderr.toString()).toMatch(SENTENCE);
    });
  }
});
