import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { ChildView } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { type CollectorProcess, startCollector } from "../kit/collector-process.ts";
import { damagePagesOf } from "../kit/damaged-pages.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { eventsOf } from "../kit/event-run.ts";
import { expectVerified } from "../kit/expect-verified.ts";
import { mountFailingDisk } from "../kit/failing-disk.ts";
import { runCommand } from "../kit/program.ts";
import { mountSmallDisk } from "../kit/small-disk.ts";
import { ingestRequest, submit } from "../kit/submit.ts";

const EVENTS_PER_REQUEST = 200;

/** Sends the next events of a child; told what was answered. */
class Sender {
  readonly #collector: CollectorProcess;
  acknowledged = 0;

  constructor(collector: CollectorProcess) {
    this.#collector = collector;
  }

  async send(): Promise<Response> {
    const { path, contentType, body } = ingestRequest(
      eventsOf("child", EVENTS_PER_REQUEST, this.acknowledged),
      "protobuf",
    );
    const response = await fetch(new URL(path, this.#collector.ingestUrl), {
      method: "POST",
      headers: { "content-type": contentType },
      body: body as NonNullable<RequestInit["body"]>,
    });
    await response.arrayBuffer();
    if (response.status === 200) this.acknowledged += EVENTS_PER_REQUEST;
    return response;
  }

  /** Until something else than 200 is answered. */
  async sendUntilRefused(): Promise<Response> {
    for (;;) {
      const response = await this.send();
      if (response.status !== 200) return response;
    }
  }

  /** As the answer asks for: again, after a while, until it is taken. */
  async sendUntilTaken(): Promise<void> {
    for (;;) {
      const response = await this.send();
      if (response.status === 200) return;
      expect(response.status).toBe(503);
      await delay(Number(response.headers.get("retry-after")) * 1000);
    }
  }
}

async function expectServed(collector: CollectorProcess, acknowledged: number): Promise<void> {
  const child = await collector.get<ChildView>("/api/v1/children/runner/child");
  expect(child).toMatchObject({ state: "running", highestSequence: acknowledged - 1 });
}

async function readiness(collector: CollectorProcess): Promise<number> {
  return (await fetch(new URL("/readyz", collector.apiUrl))).status;
}

const digestOf = (path: string): string => createHash("sha256").update(readFileSync(path)).digest("hex");

describe("a collector whose disk", () => {
  test("is full refuses retryably, serves reads, and recovers by itself", { timeout: 60_000 }, async (context) => {
    const disk = mountSmallDisk(context, "size=8m");
    const ballast = join(disk.path, "ballast");
    writeFileSync(ballast, Buffer.alloc(5 * 1024 * 1024));
    const database = join(disk.path, "collector.db");
    const collector = await startCollector(database);
    const sender = new Sender(collector);
    const refused = await sender.sendUntilRefused();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(sender.acknowledged).toBeGreaterThan(0);
    expect(await readiness(collector)).toBe(503);
    await expectServed(collector, sender.acknowledged);
    rmSync(ballast);
    await sender.sendUntilTaken();
    expect(await readiness(collector)).toBe(200);
    await expectServed(collector, sender.acknowledged);
    const { stderr } = collector.program.output();
    expect(stderr.split("\n").filter((line) => line.includes("the store takes no writes"))).toHaveLength(1);
    expect(stderr.split("\n").filter((line) => line.includes("the store takes writes again"))).toHaveLength(1);
    await collector.endBy("SIGTERM");
    expect((await expectVerified(database)).inputs).toBeGreaterThanOrEqual(sender.acknowledged);
  });

  // A system lets nobody make a disk read-only while a file on it is open for writing; it does so itself when the disk fails.
  test("fails and becomes read-only while it runs refuses retryably, serves reads, and has lost nothing when it is back", {
    timeout: 60_000,
  }, async (context) => {
    const disk = mountFailingDisk(context);
    const database = join(disk.path, "collector.db");
    const collector = await startCollector(database);
    const sender = new Sender(collector);
    expect((await sender.send()).status).toBe(200);
    disk.fail();
    for (let request = 0; request < 3; request += 1) {
      const refused = await sender.send();
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    }
    expect(await readiness(collector)).toBe(503);
    await expectServed(collector, EVENTS_PER_REQUEST);
    const { stderr } = collector.program.output();
    expect(stderr.split("\n").filter((line) => line.includes("the store takes no writes"))).toHaveLength(1);
    await collector.endBy("SIGTERM");
    disk.replace();
    expect((await expectVerified(database)).inputs).toBeGreaterThanOrEqual(EVENTS_PER_REQUEST);
    const second = await startCollector(database);
    await expectServed(second, EVENTS_PER_REQUEST);
    const again = new Sender(second);
    again.acknowledged = sender.acknowledged;
    expect((await again.send()).status).toBe(200);
    await expectServed(second, 2 * EVENTS_PER_REQUEST);
    await second.endBy("SIGTERM");
  });

  test("is read-only from the beginning does not start, and says why", async (context) => {
    const disk = mountSmallDisk(context, "size=16m");
    const database = join(disk.path, "collector.db");
    const first = await startCollector(database);
    await new Sender(first).send();
    await first.endBy("SIGTERM");
    disk.remount("ro");
    const { exitCode, stderr } = await runCommand([
      "collector",
      "--database",
      database,
      "--ingest-port",
      "0",
      "--api-port",
      "0",
    ]);
    expect(exitCode).toBe(2);
    expect(stderr.toString()).toMatch(/read-?only/i);
  });
});

describe("a database with a damaged page", () => {
  test("is refused with the way out, and nothing of it is discarded or changed", { timeout: 60_000 }, async () => {
    const database = join(temporaryDirectory(), "collector.db");
    const collector = await startCollector(database);
    const sender = new Sender(collector);
    for (let request = 0; request < 60; request += 1) await sender.send();
    await collector.endBy("SIGTERM");
    const content = readFileSync(database);
    const pageBytes = content.readUInt16BE(16);
    // Every page but those that say what the database is: wherever a start reads, it meets one.
    for (let page = 2; page < content.length / pageBytes; page += 1)
      content.fill(0xa5, page * pageBytes, page * pageBytes + 64);
    writeFileSync(database, content);
    const digest = digestOf(database);
    const { exitCode, stderr } = await runCommand([
      "collector",
      "--database",
      database,
      "--ingest-port",
      "0",
      "--api-port",
      "0",
    ]);
    expect(exitCode).toBe(2);
    expect(stderr.toString()).toContain("is damaged");
    expect(stderr.toString()).toContain("agent-lifecycle doctor");
    expect(stderr.toString()).not.toContain("    at ");
    expect(digestOf(database)).toBe(digest);
    expect(statSync(database).size).toBe(content.length);
    const examined = await runCommand(["doctor", "--database", database, "--ingest-port", "0", "--api-port", "0"]);
    expect(examined.exitCode).toBe(1);
    expect(examined.stdout.toString()).toMatch(/problem.*(damaged|malformed)/i);
  });
});

describe("a damaged page that a start does not read", () => {
  test("ends the taking of evidence when it is met: not ready, nothing acknowledged, reads served, nothing changed", {
    timeout: 60_000,
  }, async () => {
    const database = join(temporaryDirectory(), "collector.db");
    const first = await startCollector(database);
    for (let request = 0; request < 60; request += 1)
      await submit(first.ingestUrl, eventsOf("child", 200, request * 200));
    await first.endBy("SIGTERM");
    // A start looks up the newest inputs. The old ones are met when one of them is sent again.
    damagePagesOf(database, "inputs", 2);
    const collector = await startCollector(database);
    expect(await readiness(collector)).toBe(200);
    await submit(collector.ingestUrl, eventsOf("another", 3));
    const digest = digestOf(database);
    await expect(submit(collector.ingestUrl, eventsOf("child", 1, 5))).rejects.toThrow(/answered 503/);
    await expect(submit(collector.ingestUrl, eventsOf("another", 1, 3))).rejects.toThrow(/answered 503/);
    expect(await readiness(collector)).toBe(503);
    const { reason } = (await (await fetch(new URL("/readyz", collector.apiUrl))).json()) as {
      readonly reason: string;
    };
    expect(reason).toContain(`the database ${database} is damaged`);
    await expectServed(collector, 12_000);
    expect(await collector.get("/api/v1/children/runner/another")).toMatchObject({ highestSequence: 2 });
    expect(await collector.get("/api/v1/summary")).toMatchObject({ started: 2, live: 2 });
    const { stderr } = collector.program.output();
    expect(stderr.split("\n").filter((line) => line.includes("the store takes no writes"))).toHaveLength(1);
    await collector.endBy("SIGTERM");
    expect(digestOf(database)).toBe(digest);
    const examined = await runCommand(["doctor", "--database", database, "--ingest-port", "0", "--api-port", "0"]);
    expect(examined.exitCode).toBe(1);
    const refused = await runCommand(["backup", "--database", database, `${database}.copy`]);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr.toString()).toContain("malformed");
    expect(existsSync(`${database}.copy`)).toBe(false);
  });
});
