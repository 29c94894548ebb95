import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AdminAudit, createSqliteAdminActions } from "@agent-lifecycle/collector/parts";
import { expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "../../../kit/event-file.ts";

const ATTEMPT = { principal: "unknown", action: "reload", address: "127.0.0.1", text: "" };

function open(path: string): {
  readonly database: DatabaseSync;
  readonly audit: AdminAudit;
  readonly clock: ManualClock;
} {
  const database = new DatabaseSync(path);
  onTestFinished(() => void (database.isOpen && database.close()));
  const clock = new ManualClock();
  return { database, clock, audit: new AdminAudit(createSqliteAdminActions(database, path), clock) };
}

class ManualClock {
  nowMs = 0;
  wallNow = () => this.nowMs;
  monotonicNow = () => this.nowMs;
}

it("outlives the process", () => {
  const path = join(temporaryDirectory(), "audit.db");
  const first = open(path);
  first.audit.begin({ ...ATTEMPT, principal: "operator" })({ outcome: "succeeded", text: "done" });
  first.audit.begin({ ...ATTEMPT, principal: "operator", action: "backup" });
  first.database.close();
  expect(open(path).audit.list({ limit: 10 })).toMatchObject([
    { action: "backup", outcome: "started" },
    { action: "reload", outcome: "succeeded", text: "done" },
  ]);
});

it("writes down the first 20 refused attempts of a minute, and how many came after them", () => {
  const { audit, clock } = open(":memory:");
  for (let attempt = 0; attempt < 500; attempt += 1) audit.refuse(ATTEMPT);
  expect(audit.list({ limit: 1_000 })).toHaveLength(20);
  clock.nowMs = 60_000;
  audit.refuse(ATTEMPT);
  audit.refuse(ATTEMPT);
  expect(audit.list({ limit: 2 }).map(({ text }) => text)).toEqual(["", "480 more before it"]);
});

it("keeps what was done, however many attempts are refused", () => {
  const { audit, clock } = open(":memory:");
  audit.begin({ ...ATTEMPT, principal: "operator" })({ outcome: "succeeded", text: "" });
  for (let attempt = 0; attempt < 1_500; attempt += 1) {
    clock.nowMs += 60_000;
    audit.refuse(ATTEMPT);
  }
  const kept = audit.list({ limit: 10_000 });
  expect(kept).toHaveLength(1_001);
  expect(kept.at(-1)).toMatchObject({ principal: "operator", outcome: "succeeded" });
});

it("keeps the newest 10,000 of what was done", () => {
  const { audit } = open(":memory:");
  for (let action = 0; action < 10_050; action += 1) {
    audit.begin({ ...ATTEMPT, text: String(action) })({ outcome: "succeeded", text: "" });
  }
  const kept = audit.list({ limit: 20_000 });
  expect(kept).toHaveLength(10_000);
  expect(kept.at(-1)?.text).toBe("50");
});

it("redacts and bounds what it is told", () => {
  const { audit } = open(":memory:");
  const secret = "https://name:swordfish-and-more@backup.test/";
  audit.begin({ ...ATTEMPT, text: secret })({ outcome: "failed", text: `${secret} ${"a".repeat(5_000)}` });
  const [entry] = audit.list({ limit: 1 });
  expect(entry?.text).not.toContain("swordfish");
  expect(entry?.text).toHaveLength(1_024);
});
