import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { type CollectorProcess, startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { eventsOf } from "../kit/event-run.ts";
import { runCommand } from "../kit/program.ts";
import { submit } from "../kit/submit.ts";

const ADMIN_TOKEN = "a-token-for-administrators-7f3c9a51";

let folder = "";
let database = "";

beforeEach(() => {
  folder = temporaryDirectory();
  database = join(folder, "collector.db");
});

async function backup(
  ...argv: readonly string[]
): Promise<{ readonly exitCode: number | null; readonly stdout: string; readonly stderr: string }> {
  const { exitCode, stdout, stderr } = await runCommand(["backup", "--database", database, ...argv]);
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

async function expectWhole(copy: string, atLeast: number): Promise<void> {
  const { exitCode, stdout } = await runCommand(["verify", "--database", copy, "--json"]);
  expect(exitCode).toBe(0);
  const { agrees, inputs } = JSON.parse(stdout.toString()) as { readonly agrees: boolean; readonly inputs: number };
  expect(agrees).toBe(true);
  expect(inputs).toBeGreaterThanOrEqual(atLeast);
}

describe("a backup", () => {
  test("is made while the collector writes, is whole, and is a database to start from", {
    timeout: 60_000,
  }, async () => {
    const collector = await startCollector(database);
    let sent = 0;
    let isDone = false;
    const sending = (async () => {
      while (!isDone) {
        await submit(collector.ingestUrl, eventsOf("busy", 200, sent));
        sent += 200;
      }
    })();
    const copies = [join(folder, "first.db"), join(folder, "second.db")];
    for (const copy of copies) {
      const acknowledged = sent;
      const { exitCode, stdout } = await backup("--json", copy);
      expect(exitCode).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ path: copy, bytes: statSync(copy).size });
      await expectWhole(copy, acknowledged);
      expect(statSync(copy).mode & 0o777).toBe(0o600);
    }
    isDone = true;
    await sending;
    await collector.endBy("SIGTERM");
    const restored = await startCollector(copies[1] ?? "");
    const { live } = await restored.get<{ readonly live: number }>("/api/v1/summary");
    expect(live).toBe(1);
    await restored.endBy("SIGTERM");
    expect(readdirSync(folder).filter((name) => name.endsWith(".new"))).toEqual([]);
  });

  test("replaces nothing unless told to", async () => {
    const collector = await startCollector(database);
    await submit(collector.ingestUrl, eventsOf("child", 3));
    const copy = join(folder, "copy.db");
    writeFileSync(copy, "precious");
    const refused = await backup(copy);
    expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
    expect(refused.stderr).toContain("--force");
    expect(statSync(copy).size).toBe("precious".length);
    expect(await backup("--force", copy)).toMatchObject({ exitCode: 0 });
    await expectWhole(copy, 3);
  });

  test("never takes the place of the database itself, under whatever name, nor of a file beside it", async () => {
    const collector = await startCollector(database);
    await submit(collector.ingestUrl, eventsOf("child", 3));
    symlinkSync(database, join(folder, "link.db"));
    for (const name of ["collector.db", "link.db", "collector.db-wal", "collector.db-shm", "collector.db.lock"]) {
      const refused = await backup("--force", join(folder, name));
      expect(refused, name).toMatchObject({ exitCode: 2, stdout: "" });
      expect(refused.stderr).toContain("belongs to the database that is to be copied");
    }
    await submit(collector.ingestUrl, eventsOf("child", 3, 3));
    await collector.endBy("SIGTERM");
    await expectWhole(database, 6);
  });

  test("that is made twice at one time leaves a whole one", async () => {
    const collector = await startCollector(database);
    await submit(collector.ingestUrl, eventsOf("child", 2_000));
    const copy = join(folder, "copy.db");
    const ends = await Promise.all([backup("--force", copy), backup("--force", copy), backup("--force", copy)]);
    expect(ends.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
    await expectWhole(copy, 2_000);
    expect(readdirSync(folder).filter((name) => name.endsWith(".new"))).toEqual([]);
  });

  test("that cannot be written, or of nothing, says so and leaves nothing behind", async () => {
    const missing = await backup(join(folder, "copy.db"));
    expect(missing).toMatchObject({ exitCode: 2, stdout: "" });
    expect(missing.stderr).toContain("there is no database");
    const collector = await startCollector(database);
    await submit(collector.ingestUrl, eventsOf("child", 3));
    mkdirSync(join(folder, "taken"));
    const impossible = await backup("--force", join(folder, "taken"));
    expect(impossible.exitCode).toBe(2);
    expect(readdirSync(folder).filter((name) => name.endsWith(".new"))).toEqual([]);
  });
});

describe("a backup by the admin API", () => {
  async function startWithBackups(): Promise<CollectorProcess> {
    mkdirSync(join(folder, "backups"));
    const file = join(folder, "collector.yaml");
    writeFileSync(
      file,
      `storage: { backup_directory: backups }
access: { tokens: [{ name: operator, token: ${ADMIN_TOKEN}, scopes: [admin] }] }
`,
      { mode: 0o600 },
    );
    return startCollector(database, ["--config", file]);
  }

  async function ask(
    collector: CollectorProcess,
    name: string,
  ): Promise<{ readonly status: number; readonly body: unknown }> {
    const response = await fetch(new URL("/api/v1/admin/backup", collector.apiUrl), {
      method: "POST",
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ name }),
    });
    return { status: response.status, body: await response.json() };
  }

  test("goes into the configured folder, once under each name, and is written down", async () => {
    const collector = await startWithBackups();
    await submit(collector.ingestUrl, eventsOf("child", 3));
    expect(await ask(collector, "monday.db")).toMatchObject({
      status: 200,
      body: { action: "backup", outcome: "succeeded", details: { name: "monday.db" } },
    });
    await expectWhole(join(folder, "backups", "monday.db"), 3);
    expect(await ask(collector, "monday.db")).toMatchObject({ status: 409 });
    expect((await ask(collector, "../monday.db")).status).toBe(400);
    expect(readdirSync(join(folder, "backups"))).toEqual(["monday.db"]);
    const response = await fetch(new URL("/api/v1/admin/actions", collector.apiUrl), {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    const { actions } = (await response.json()) as { readonly actions: readonly object[] };
    expect(actions).toMatchObject([
      { principal: "operator", action: "backup", outcome: "failed" },
      { principal: "operator", action: "backup", outcome: "succeeded" },
    ]);
    await collector.endBy("SIGTERM");
  });
});
