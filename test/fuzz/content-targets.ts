import { readFileSync } from "node:fs";
import { loadConfiguration, parseVector, readConfigurationSchema } from "@agent-lifecycle/collector/parts";
import {
  createJsonlReader,
  formatTimestamp,
  MAX_DETAILS_BYTES,
  normalizeSnapshot,
  parseTimestamp,
  sanitizeDetails,
  utf8Length,
} from "@agent-lifecycle/proto";
import { makeSnapshot } from "../kit/events.ts";
import type { SeededRandom } from "../kit/seeded-random.ts";
import { CANDIDATES, judgeCandidate } from "./events.ts";
import { filler, mutatedBytes, mutatedValue } from "./mutations.ts";
import { expectThat, type FuzzTarget, MAX_PROBLEM_LENGTH, one, pureTarget } from "./target.ts";

const SNAPSHOT: unknown = JSON.parse(
  JSON.stringify(
    makeSnapshot({
      coverage: ["child-1", "child-2"],
      children: [{ childId: "child-1", activity: "works" }, { childId: "child-2" }],
    }),
  ),
);

function judgeEvent(random: SeededRandom): void {
  const event = one(random, CANDIDATES);
  const before = JSON.stringify(event);
  judgeCandidate(mutatedValue(random, event));
  expectThat(JSON.stringify(event) === before, "what was given has been changed");
}

function judgeSnapshot(random: SeededRandom): void {
  const normalized = normalizeSnapshot(mutatedValue(random, SNAPSHOT));
  if (!normalized.ok) {
    expectThat(JSON.stringify(normalized.diagnostic).length < MAX_PROBLEM_LENGTH, "an objection without bound");
    return;
  }
  const again = normalizeSnapshot(JSON.parse(JSON.stringify(normalized.snapshot)));
  expectThat(
    again.ok && JSON.stringify(again.snapshot) === JSON.stringify(normalized.snapshot),
    "normalizing twice changes it",
  );
}

/** Valid lines around broken ones are kept, wherever the stream is cut. */
function judgeJsonl(random: SeededRandom): void {
  const lines: Buffer[] = [];
  let valid = 0;
  for (let line = random.below(6); line >= 0; line -= 1) {
    if (random.below(3) > 0) {
      valid += 1;
      lines.push(Buffer.from(JSON.stringify({ line: valid })));
    } else lines.push(Buffer.from(mutatedBytes(random, Buffer.from('{"broken":[1,2,3')).filter((byte) => byte !== 10)));
    if (random.below(12) === 0) lines.push(Buffer.from(`{"long":"${"é".repeat(100 + random.below(200))}"}`));
  }
  const stream = Buffer.concat(lines.flatMap((line) => [line, Buffer.from(random.below(4) === 0 ? "\r\n" : "\n")]));
  const readers = [createJsonlReader({ maxLineBytes: 256 }), createJsonlReader({ maxLineBytes: 256 })] as const;
  const whole = [...readers[0].push(stream), ...readers[0].end()];
  const pieces = [];
  for (let at = 0; at < stream.length; ) {
    const next = at + 1 + random.below(20);
    pieces.push(...readers[1].push(stream.subarray(at, next)));
    at = next;
  }
  pieces.push(...readers[1].end());
  expectThat(JSON.stringify(pieces) === JSON.stringify(whole), "the chunks of a stream change what is read");
  const kept = whole.filter(
    (item) => item.ok && typeof item.value === "object" && item.value !== null && "line" in item.value,
  );
  expectThat(kept.length === valid, `${kept.length} of ${valid} valid lines were kept`);
}

function judgeDetails(random: SeededRandom): void {
  const large = random.below(8) === 0 ? { large: filler(random, 4_000).repeat(1 + random.below(3)) } : undefined;
  const { details, diagnostics } = sanitizeDetails({
    fuzzed: mutatedValue(random, one(random, CANDIDATES)),
    ...large,
    usage: mutatedValue(random, { inputTokens: 12, costUsd: 0.5 }),
    waitingOn: mutatedValue(random, { kind: "user", text: "may I?" }),
    last: mutatedValue(random, "text"),
  });
  expectThat(JSON.stringify(diagnostics).length < 8 * MAX_PROBLEM_LENGTH, "diagnostics without bound");
  if (details === undefined) return;
  const text = JSON.stringify(details);
  expectThat(utf8Length(text) <= MAX_DETAILS_BYTES, "details beyond their bound");
  const again = sanitizeDetails(JSON.parse(text) as Record<string, unknown>);
  expectThat(JSON.stringify(again.details) === text, `sanitizing twice changes it: ${text}`);
}

const TIMES = ["2026-09-01T09:00:00.123Z", "1969-12-31T23:59:59.999999999Z", "0001-01-01T00:00:00+14:00"];

function judgeTimestamp(random: SeededRandom): void {
  const text = mutatedBytes(random, Buffer.from(one(random, TIMES))).toString("latin1");
  const time = parseTimestamp(text);
  if (time === undefined) return;
  expectThat(Number.isSafeInteger(time), `${text} is no time: ${time}`);
  expectThat(parseTimestamp(formatTimestamp(time)) === time, `${text} is another time when it is written out`);
}

const VECTOR: unknown = JSON.parse(
  readFileSync(new URL("../contract/vectors/01-legal-path-to-completed.json", import.meta.url), "utf8"),
);

function judgeVector(random: SeededRandom): void {
  const vector = parseVector(mutatedValue(random, VECTOR));
  expectThat(vector.ok || vector.problems.length > 0, "refused without a reason");
}

const SCHEMA = readConfigurationSchema();
const YAML = Buffer.from(readFileSync(new URL("../../examples/deploy/collector.yaml", import.meta.url)));

function judgeConfiguration(random: SeededRandom): void {
  const { problems } = loadConfiguration(mutatedBytes(random, YAML).toString(), {
    schema: SCHEMA,
    environment: {},
    resolvePath: (path) => path,
  });
  expectThat(problems.length <= 1_000, "problems without bound");
}

export const CONTENT_TARGETS: readonly FuzzTarget[] = [
  pureTarget("event", 8, judgeEvent),
  pureTarget("snapshot", 8, judgeSnapshot),
  pureTarget("jsonl", 10, judgeJsonl),
  pureTarget("details", 8, judgeDetails),
  pureTarget("timestamp", 10, judgeTimestamp),
  pureTarget("vector", 4, judgeVector),
  pureTarget("configuration", 2, judgeConfiguration),
];
