import type { ChildView } from "@agent-lifecycle/proto";
import { expect } from "vitest";
import type { CollectorProcess } from "./collector-process.ts";
import { makeEvent } from "./events.ts";
import { runCommand } from "./program.ts";
import { ENCODINGS, submit } from "./submit.ts";

/** pino's number of a warning; the collector itself logs nothing below information. */
const WARNING = 40;

/**
 * The last thing a test does with a collector that it maltreated: it still takes and projects events in every encoding,
 * it ends in order, it logged no fault of its own, and what it stored replays to what it showed.
 */
export async function expectUnharmed(collector: CollectorProcess, database: string): Promise<void> {
  for (const encoding of ENCODINGS) {
    const childId = `after-${encoding}`;
    const events = [
      makeEvent({ source: "sane", childId, sequence: 0, state: "created" }),
      makeEvent({ source: "sane", childId, sequence: 1, state: "starting", at: 1 }),
    ];
    expect(await submit(collector.ingestUrl, events, encoding)).toMatchObject({ rejected: 0 });
    const child = await collector.get<ChildView>(`/api/v1/children/sane/${childId}`);
    expect(child).toMatchObject({ state: "starting", highestSequence: 1, provisional: false });
  }
  const { exitCode, stderr } = await collector.endBy("SIGTERM");
  expect(exitCode).toBe(0);
  const entries = stderr.toString().trimEnd().split("\n");
  const faults = entries.filter((line) => (JSON.parse(line) as { readonly level: number }).level >= WARNING);
  expect(faults).toEqual([]);
  const verified = await runCommand(["verify", "--database", database]);
  expect({ exitCode: verified.exitCode, stderr: verified.stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
}
