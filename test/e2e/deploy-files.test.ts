import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../kit/event-file.ts";
import { runCommand, startCommand, startProgram } from "../kit/program.ts";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string): string => readFileSync(join(REPOSITORY, "examples/deploy", path), "utf8");

/** Instructions of a Dockerfile, continued lines joined, comments left out. */
function instructionsOf(dockerfile: string): readonly (readonly [string, string])[] {
  return dockerfile
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\\\n/g, " ")
    .split("\n")
    .flatMap((line): readonly (readonly [string, string])[] => {
      const match = /^([A-Z]+)\s+(.+)$/.exec(line.trim());
      return match === null ? [] : [[String(match[1]), String(match[2])]];
    });
}

function credentials(): Record<string, string> {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, "ingest.token"), "0123456789abcdef0123456789abcdef-ingest\n", { mode: 0o600 });
  writeFileSync(join(folder, "read.token"), "0123456789abcdef0123456789abcdef-read\n", { mode: 0o600 });
  return { CREDENTIALS_DIRECTORY: folder, STATE_DIRECTORY: folder };
}

/** Whether the program knows the command with its options. */
async function isKnown(argv: readonly string[]): Promise<boolean> {
  const { exitCode, stdout } = await runCommand([
    ...argv.filter((word) => !word.startsWith("-") && !word.includes("/")),
    "--help",
  ]);
  const options = argv.filter((word) => word.startsWith("--"));
  return exitCode === 0 && options.every((option) => stdout.toString().includes(`${option} `));
}

describe("the image", () => {
  const instructions = instructionsOf(read("Dockerfile"));

  it("copies only what is there, and what its ignore file lets through", () => {
    const ignored = read("Dockerfile.dockerignore").split("\n");
    const copied = instructions.filter(([name, text]) => name === "COPY" && !text.startsWith("--from="));
    expect(copied.length).toBeGreaterThan(0);
    for (const [, text] of copied) {
      for (const path of text.split(/\s+/).slice(0, -1)) {
        expect([path, existsSync(join(REPOSITORY, path))]).toEqual([path, true]);
        expect(ignored).toContain(`!${path}`);
      }
    }
  });

  it("copies between stages that are there, and ends as nobody special", () => {
    const stages = instructions.flatMap(([name, text]) => (name === "FROM" ? [/ AS (\w+)$/.exec(text)?.[1]] : []));
    for (const [, text] of instructions) {
      const from = /^--from=(\w+)/.exec(text)?.[1];
      if (from !== undefined) expect(stages).toContain(from);
    }
    const last = instructions.slice(instructions.findLastIndex(([name]) => name === "FROM"));
    expect(last.filter(([name]) => name === "USER")).toEqual([["USER", "node"]]);
    expect(instructions.every(([name, text]) => name !== "FROM" || /^node:24-slim\b/.test(text))).toBe(true);
  });

  it("runs scripts of the checkout, and a command of the program", async () => {
    const manifest = JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8")) as { scripts: object };
    const scripts = instructions.flatMap(([, text]) => [...text.matchAll(/npm run (\w+)/g)].map(([, name]) => name));
    for (const script of scripts) expect(manifest.scripts).toHaveProperty(String(script));
    const words = (name: string): readonly string[] =>
      JSON.parse(instructions.find(([key]) => key === name)?.[1] ?? "[]");
    expect(words("ENTRYPOINT")).toEqual(["agent-lifecycle"]);
    expect(await isKnown(words("CMD"))).toBe(true);
  });

  it("is healthy by its own check while the collector is ready, and not when nobody answers", async () => {
    const check = JSON.parse(
      /CMD (\[.*\])$/.exec(instructions.find(([name]) => name === "HEALTHCHECK")?.[1] ?? "")?.[1] ?? "[]",
    ) as string[];
    expect(check.slice(0, 2)).toEqual(["node", "-e"]);
    const argv = ["collector", "--json", "--ingest-port", "0", "--api-port", "0"];
    const collector = startCommand(argv, { workingDirectory: temporaryDirectory() });
    const { api } = JSON.parse(await collector.line((line) => line.startsWith("{"))) as { readonly api: string };
    const code = (check[2] ?? "").replace("http://127.0.0.1:8787", api);
    expect(code).toContain(`${api}/readyz`);
    const health = () => startProgram(process.execPath, ["-e", code], {}).end;
    expect((await health()).exitCode).toBe(0);
    collector.process.kill("SIGTERM");
    await collector.end;
    expect((await health()).exitCode).toBe(1);
  });
});

test("the configuration can be used as the image and the unit use it", async () => {
  const file = join(REPOSITORY, "examples/deploy/collector.yaml");
  for (const hosts of [{}, { INGEST_HOST: "0.0.0.0", API_HOST: "0.0.0.0" }]) {
    const checked = await runCommand(["config", "check", "--config", file], {
      environment: { ...credentials(), ...hosts },
    });
    expect(checked.stdout.toString()).toBe(`${file} can be used\n`);
  }
  const environment = instructionsOf(read("Dockerfile")).find(([name]) => name === "ENV")?.[1] ?? "";
  const used = [...readFileSync(file, "utf8").matchAll(/\$\{env:(\w+)/g)].map(([, name]) => String(name));
  for (const name of used) expect(environment).toContain(`${name}=`);
});

describe("the unit", () => {
  const unit = read("agent-lifecycle.service");

  it("runs commands that the program knows, and gives it time to end by itself", async () => {
    const commands = [...unit.matchAll(/^Exec\w+=\/usr\/bin\/env agent-lifecycle (.+)$/gm)].map(([, text]) =>
      String(text).split(" "),
    );
    expect(commands.length).toBe(2);
    for (const command of commands) expect(await isKnown(command)).toBe(true);
    const timeout = Number(/^TimeoutStopSec=(\d+)s$/m.exec(unit)?.[1]);
    expect(timeout).toBeGreaterThan(Number(/shutdown_timeout: (\d+)s/.exec(read("collector.yaml"))?.[1]));
    for (const [, name] of read("collector.yaml").matchAll(/CREDENTIALS_DIRECTORY:-[^}]+\}\/(\S+)/g)) {
      expect(unit).toContain(`LoadCredential=${name}:`);
    }
  });

  it("passes systemd's own check", async (context) => {
    const analyze = ["/usr/bin/systemd-analyze", "/bin/systemd-analyze"].find(existsSync);
    if (analyze === undefined) return context.skip("this machine has no systemd-analyze");
    const folder = mkdtempSync(join(tmpdir(), "agent-lifecycle-unit-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "agent-lifecycle.service");
    writeFileSync(path, unit);
    const { exitCode, stderr } = await startProgram(analyze, ["verify", "--man=no", path], {}).end;
    const complaints = stderr
      .toString()
      .split("\n")
      .filter((line) => line.includes("agent-lifecycle.service"));
    expect({ exitCode, complaints }).toEqual({ exitCode: 0, complaints: [] });
  });
});
