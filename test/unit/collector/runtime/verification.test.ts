import { copyFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { openSqliteStore, type Verification, verifyStore } from "@agent-lifecycle/collector/parts";
import { describe, expect, test } from "vitest";
import { eventsOf } from "../../../kit/event-run.ts";
import { makeEvent, makeSnapshot } from "../../../kit/events.ts";
import { runCommand } from "../../../kit/program.ts";
import { RECEIVER, startEmbedded, store, temporaryDatabase } from "./embedded-collector.ts";

/** A database with live, ended, gapped, conflicting and corrected children, two starts and one silence. */
async function healthyDatabase(): Promise<string> {
  const database = temporaryDatabase();
  const first = await startEmbedded({ database });
  await store(first, ...eventsOf("live", 6), ...eventsOf("ended", 3));
  await store(first, makeEvent({ childId: "ended", sequence: 3, state: "completed", at: 3 }));
  await store(first, makeEvent({ childId: "ended", sequence: 4, at: 4 }));
  await store(first, makeEvent({ childId: "gapped", sequence: 5, state: "running" }), makeEvent({ childId: "note" }));
  await store(first, makeEvent({ childId: "live", sequence: 1, state: "cancelled", at: 1 }));
  const snapshot = makeSnapshot({
    at: 1_000,
    coverage: ["gapped"],
    children: [{ childId: "gapped", state: "waiting" }],
  });
  await first.collector.intake.acceptSnapshot(snapshot, { receiver: RECEIVER, backfill: false, bytes: 0 });
  await store(first, makeEvent({ childId: "live", kind: "diagnostic", eventId: "a remark", at: 5 }));
  first.clock.pass(60_000);
  await first.pace.next();
  await first.collector.shutdown();
  const second = await startEmbedded({ database, clock: first.clock });
  await store(second, makeEvent({ childId: "live", sequence: 6, at: 6 }));
  await second.collector.shutdown();
  return database;
}

/** A copy that somebody has altered behind the collector's back. */
function altered(database: string, sql: string): string {
  const copy = temporaryDatabase();
  copyFileSync(database, copy);
  const intruder = new DatabaseSync(copy);
  const { changes } = intruder.prepare(sql).run();
  intruder.close();
  if (changes !== 1) throw new Error(`altered ${changes} rows: ${sql}`);
  return copy;
}

function verify(path: string): Verification {
  const store = openSqliteStore({ path, readOnly: true });
  try {
    return verifyStore(store);
  } finally {
    store.close();
  }
}

const NO_FINDINGS = { differentOutcomes: 0, differingLines: 0, missingInputs: 0, misfiledChildren: 0 };

interface Tampering {
  readonly what: string;
  readonly sql: string;
  readonly found: Partial<Verification>;
}

const TAMPERINGS: readonly Tampering[] = [
  {
    what: "the record of a child",
    sql: `UPDATE children SET record = json_set(record, '$.conflicts', 0) WHERE child_id = 'live'`,
    found: { differingLines: 1 },
  },
  {
    what: "the state that a child is filed under",
    sql: `UPDATE children SET state = 'completed' WHERE child_id = 'gapped'`,
    found: { misfiledChildren: 1 },
  },
  {
    what: "the mark that loads a live child at a start",
    sql: `UPDATE children SET live = 0 WHERE child_id = 'live'`,
    found: { misfiledChildren: 1 },
  },
  {
    what: "a child that is gone",
    sql: `DELETE FROM children WHERE child_id = 'ended'`,
    found: { differingLines: 1 },
  },
  {
    what: "an outcome",
    sql: `UPDATE inputs SET status = status + 1 WHERE type = 0 AND sequence = 4 AND status = 0`,
    found: { differentOutcomes: 1 },
  },
  {
    what: "an objection",
    sql: `UPDATE inputs SET diagnostic = NULL WHERE diagnostic = 'identity_conflict'`,
    found: { differentOutcomes: 1 },
  },
  {
    what: "an input that is gone and changed something",
    sql: `DELETE FROM inputs WHERE type = 0 AND payload LIKE '%completed%'`,
    found: { missingInputs: 1, differingLines: 1 },
  },
  {
    what: "an input that is gone and had changed nothing",
    sql: `DELETE FROM inputs WHERE payload LIKE '%a remark%'`,
    found: { missingInputs: 1, differingLines: 0, differentOutcomes: 0 },
  },
  {
    what: "the payload of an event",
    sql: `UPDATE inputs SET payload = replace(payload, 'step 5', 'step 7') WHERE payload LIKE '%step 5%'`,
    found: { differingLines: 1 },
  },
  {
    what: "the time of receipt of an event",
    sql: `UPDATE inputs SET at = at + 1 WHERE input_id = (SELECT max(input_id) FROM inputs)`,
    found: { differingLines: 1 },
  },
  {
    what: "the snapshot epoch of a source",
    sql: `UPDATE snapshot_epochs SET epoch = json_set(epoch, '$.current', 'epoch-9')`,
    found: { differingLines: 1 },
  },
];

describe("verification", () => {
  test("agrees on a healthy database, ended or crashed, and while its collector runs", async () => {
    const database = await healthyDatabase();
    expect(verify(database)).toMatchObject({ agrees: true, children: 4, ...NO_FINDINGS, differences: [] });
    const running = await startEmbedded({ database });
    await store(running, makeEvent({ childId: "live", sequence: 7, at: 7 }));
    expect(verify(database)).toMatchObject({ agrees: true, ...NO_FINDINGS });
    expect(verifyStore(running.faults.store)).toMatchObject({ agrees: true, ...NO_FINDINGS });
  });

  test("finds what was altered, each by what is wrong with it", async () => {
    const database = await healthyDatabase();
    for (const { what, sql, found } of TAMPERINGS) {
      const verification = verify(altered(database, sql));
      expect(verification, what).toMatchObject({ agrees: false, ...found });
    }
  });

  test("shows the two versions of a record that differs, and at most ten of them", async () => {
    const database = await healthyDatabase();
    const { differences } = verify(altered(database, TAMPERINGS[0]?.sql ?? ""));
    expect(differences).toHaveLength(1);
    expect(differences[0]?.stored).toContain('"conflicts":0');
    expect(differences[0]?.replayed).toContain('"conflicts":1');
    const many = await startEmbedded();
    const childIds = Array.from({ length: 12 }, (_, index) => `child-${index}`);
    await store(many, ...childIds.flatMap((childId) => eventsOf(childId, 1)));
    await many.collector.shutdown();
    const intruder = new DatabaseSync(many.database);
    intruder.exec(`UPDATE children SET record = json_set(record, '$.corrections', 5)`);
    intruder.close();
    const verification = verify(many.database);
    expect(verification.differingLines).toBe(12);
    expect(verification.differences).toHaveLength(10);
  });

  test("names an input that cannot be read at all", async () => {
    const database = await healthyDatabase();
    const damaged = altered(database, `UPDATE inputs SET payload = '{' WHERE input_id = 2`);
    expect(() => verify(damaged)).toThrow(/^input 2 is damaged: /);
    const unknownType = altered(database, `UPDATE inputs SET type = 9 WHERE input_id = 2`);
    expect(() => verify(unknownType)).toThrow("input 2 is damaged: unknown type 9");
  });
});

describe("`agent-lifecycle verify`", () => {
  test("exits with 0 for a healthy database", async () => {
    const { exitCode, stdout } = await runCommand(["verify", "--database", await healthyDatabase()]);
    expect({ exitCode, stdout: stdout.toString() }).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(/^verified: \d+ inputs replay to the stored projection of 4 children\n$/),
    });
  });

  test("exits with 1 for an altered one, in words and as JSON", async () => {
    const database = await healthyDatabase();
    const tampered = altered(database, TAMPERINGS[0]?.sql ?? "");
    const said = await runCommand(["verify", "--database", tampered]);
    expect(said.exitCode).toBe(1);
    expect(said.stdout.toString()).toMatch(
      /^- \{.*\n\+ \{.*\nNOT VERIFIED: 1 records differ, 0 of \d+ outcomes differ/,
    );
    const missing = altered(database, `DELETE FROM inputs WHERE input_id = 1`);
    const json = await runCommand(["verify", "--database", missing, "--json"]);
    expect(json.exitCode).toBe(1);
    expect(JSON.parse(json.stdout.toString())).toMatchObject({ agrees: false, missingInputs: 1 });
  });

  test("exits with 2 and a sentence for one that cannot be read", async () => {
    const damaged = altered(await healthyDatabase(), `UPDATE inputs SET payload = '{' WHERE input_id = 2`);
    const { exitCode, stderr } = await runCommand(["verify", "--database", damaged]);
    expect(exitCode).toBe(2);
    expect(stderr.toString()).toMatch(/^agent-lifecycle: input 2 is damaged: .*\n$/);
  });
});
