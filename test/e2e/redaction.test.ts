import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SummaryView } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { runCommand } from "../kit/program.ts";
import { ENCODINGS } from "../kit/submit.ts";
import { EventStreamClient } from "../unit/collector/event-stream-client.ts";
import { appendEvents, brokenLines, CarelessSender } from "./redaction/careless-sender.ts";
import { everyAnswer, filesOf } from "./redaction/outputs.ts";
import {
  eventsWith,
  forbiddenStrings,
  HARMLESS_ACTIVITY,
  leaksIn,
  type RawEvent,
  samples,
} from "./redaction/samples.ts";

const INGEST_TOKEN = "ingest-0-please-do-not-log-me";
const READ_TOKEN = "read-0-please-do-not-log-me-either";

describe("a secret that a careless producer sends is nowhere afterwards (N3)", () => {
  test("not in the database, the answers, the stream, the board, the metrics or the log, by whatever way it came", {
    timeout: 180_000,
  }, async () => {
    const [data, inputs] = [join(temporaryDirectory(), "data"), temporaryDirectory()];
    mkdirSync(data);
    const [database, followed] = [join(data, "collector.db"), join(inputs, "events.jsonl")];
    writeFileSync(followed, "");
    const sent: RawEvent[] = [];
    const eventsBy = (way: string): readonly RawEvent[] => {
      const events = samples.flatMap((sample, index) => eventsWith(sample, `${way}-${index}`));
      sent.push(...events);
      return events;
    };
    const lines = (way: string): string =>
      eventsBy(way)
        .map((event) => `${JSON.stringify(event)}\n`)
        .join("");
    const collector = await startCollector(
      database,
      ["--ingest-token", INGEST_TOKEN, "--follow", followed, "--stdin"],
      // The other token by the environment, where it shows in no list of processes.
      { input: lines("stdin") + brokenLines(), environment: { AGENT_LIFECYCLE_READ_TOKEN: READ_TOKEN } },
    );
    const { apiUrl } = collector;
    const stream = await EventStreamClient.open(apiUrl, "?after=0", { authorization: `Bearer ${READ_TOKEN}` });
    const sender = new CarelessSender(collector, [INGEST_TOKEN, READ_TOKEN]);
    for (const encoding of ENCODINGS) expect(await sender.sendEvents(eventsBy(encoding), encoding)).toBe(200);
    appendEvents(followed, eventsBy("file"));
    await sender.sendBroken();
    await sender.sendSnapshots();
    await sender.sendAround();
    await sender.sendOddRequests();

    const forbidden = [...forbiddenStrings(), INGEST_TOKEN, READ_TOKEN];
    expect(forbidden.length).toBeGreaterThan(100);
    expect(leaksIn(JSON.stringify([sent, INGEST_TOKEN, READ_TOKEN]), forbidden)).toEqual(forbidden);

    const summary = async (): Promise<SummaryView & { readonly position: number }> => {
      const response = await fetch(`${apiUrl}/api/v1/summary`, { headers: { authorization: `Bearer ${READ_TOKEN}` } });
      return (await response.json()) as SummaryView & { readonly position: number };
    };
    // Every way brought its children, those that read at their own pace too. Some say the same by every way, and are
    // known of the first.
    const childrenOf = (way: string) => [...stream.children.keys()].filter((childId) => childId.startsWith(`${way}-`));
    await stream.until(() => childrenOf("stdin").length >= childrenOf("lines").length);
    await stream.until(() => childrenOf("file").length >= childrenOf("lines").length);
    for (const encoding of ENCODINGS) expect(childrenOf(encoding).length).toBeGreaterThan(samples.length);
    const { position } = await summary();
    await stream.until(() => stream.lastId >= position);

    const answers = await everyAnswer(apiUrl, READ_TOKEN);
    const whileRunning = filesOf(data);
    const commands = await Promise.all([
      runCommand(["status", "--url", apiUrl], { environment: { AGENT_LIFECYCLE_READ_TOKEN: READ_TOKEN } }),
      runCommand(["status", "--url", apiUrl, "--read-token", "wrong-token-that-nobody-knows"]),
    ]);
    const { exitCode, stdout, stderr } = await collector.endBy("SIGTERM");
    expect(exitCode).toBe(0);
    const afterwards = filesOf(data);

    // The looking works: what is no secret is found in all of them.
    for (const output of [answers, whileRunning, afterwards, stream.text]) {
      expect(output.includes(HARMLESS_ACTIVITY)).toBe(true);
      expect(output.includes("[redacted]")).toBe(true);
    }
    const printed = [{ stdout, stderr }, ...commands].map((end) => `${end.stdout}\n${end.stderr}`).join("\n");
    expect(leaksIn(sender.told.join("\n"), forbidden), "answers to the sender").toEqual([]);
    expect(leaksIn(answers, forbidden), "API, board and metrics").toEqual([]);
    expect(leaksIn(stream.text, forbidden), "stream").toEqual([]);
    expect(leaksIn(whileRunning, forbidden), "database while running").toEqual([]);
    expect(leaksIn(afterwards, forbidden), "database afterwards").toEqual([]);
    expect(leaksIn(printed, forbidden), "log and terminal").toEqual([]);
  });
});
