import { readFileSync } from "node:fs";
import { loadConfiguration, parseVector, readConfigurationSchema } from "@agent-lifecycle/collector/parts";
import {
  canonicalEvent,
  createJsonlReader,
  decodeLogsJson,
  decodeLogsProtobuf,
  encodeLogsJson,
  encodeLogsProtobuf,
  formatTimestamp,
  type LifecycleEvent,
  normalizeEvent,
  normalizeSnapshot,
  parseCanonicalEvent,
  parseTimestamp,
  redactText,
  sanitizeDetails,
  utf8Length,
} from "@agent-lifecycle/proto";
import { makeEvent, makeSnapshot } from "../kit/events.ts";
import { eventsIn, logsOf, recordOf } from "../kit/otlp-logs.ts";
import type { SeededRandom } from "../kit/seeded-random.ts";
import { filler, mutatedBytes, mutatedValue, noise } from "./mutations.ts";

/** One decoder, or several that must agree. Throws when an input shows it to be wrong. */
export interface FuzzTarget {
  readonly name: string;
  /** Share of the inputs of a run. */
  readonly weight: number;
  try(random: SeededRandom): void;
}

class Violation extends Error {}

function expectThat(holds: boolean, what: string): void {
  if (!holds) throw new Violation(what);
}

const EVENTS: readonly LifecycleEvent[] = [
  makeEvent({ sequence: 0, state: "created", details: { name: "reviewer", usage: { inputTokens: 12, costUsd: 0.5 } } }),
  makeEvent({ sequence: 1, state: "starting", at: 1, capabilities: { heartbeat: "known", cancel: "unknown" } }),
  makeEvent({ sequence: 2, kind: "activity", activity: "liest 论文 🙂", at: 2, lineage: { parentChildId: "child-0" } }),
  makeEvent({
    state: "waiting",
    at: 3,
    details: { waitingOn: { kind: "user", text: "may I?" }, deep: { a: [1, null, true] } },
  }),
  makeEvent({ sequence: 4, state: "failed", at: 4, details: { cause: "timeout", exitCode: 3, signal: "SIGTERM" } }),
];
const LOGS = logsOf(...EVENTS.map(recordOf));
const PROTOBUF = Buffer.from(encodeLogsProtobuf(LOGS));
const JSON_TEXT = encodeLogsJson(LOGS);
const JSON_BYTES = Buffer.from(JSON_TEXT);
const JSON_VALUE: unknown = JSON.parse(JSON_TEXT);
const CANDIDATES: readonly unknown[] = EVENTS.map((event) => JSON.parse(canonicalEvent(event)) as unknown);
const SNAPSHOT: unknown = JSON.parse(
  JSON.stringify(
    makeSnapshot({
      coverage: ["child-1", "child-2"],
      children: [{ childId: "child-1", activity: "works" }, { childId: "child-2" }],
    }),
  ),
);
const MAX_PROBLEM_LENGTH = 2_000;

const one = <Value>(random: SeededRandom, values: readonly Value[]): Value =>
  values[random.below(values.length)] as Value;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Whatever a candidate is: an event that is the same when it is normalized again, or one objection. */
function judgeCandidate(candidate: unknown): LifecycleEvent | undefined {
  const normalized = normalizeEvent(candidate);
  if (!normalized.ok) {
    expectThat(normalized.diagnostic.code === "invalid_event", "an objection of another kind");
    expectThat(JSON.stringify(normalized.diagnostic).length < MAX_PROBLEM_LENGTH, "an objection without bound");
    return undefined;
  }
  const text = canonicalEvent(normalized.event);
  const again = normalizeEvent(JSON.parse(text));
  expectThat(again.ok && canonicalEvent(again.event) === text, `normalizing twice changes it: ${text}`);
  expectThat(canonicalEvent(parseCanonicalEvent(text)) === text, `the canonical text reads as something else: ${text}`);
  return normalized.event;
}

function judgeDecoded(decoded: ReturnType<typeof decodeLogsProtobuf>): void {
  if (!decoded.ok) {
    expectThat(decoded.problem.length > 0 && decoded.problem.length < MAX_PROBLEM_LENGTH, "a problem without bound");
    return;
  }
  for (const record of decoded.records) if (!record.foreign) judgeCandidate(record.candidate);
}

function fuzzProtobuf(random: SeededRandom): void {
  judgeDecoded(decodeLogsProtobuf(random.below(10) === 0 ? noise(random, 400) : mutatedBytes(random, PROTOBUF)));
}

function fuzzJson(random: SeededRandom): void {
  const value =
    random.below(2) === 0 ? parsed(mutatedBytes(random, JSON_BYTES).toString()) : mutatedValue(random, JSON_VALUE);
  if (value !== undefined) judgeDecoded(decodeLogsJson(value));
}

/** What can be normalized is the same event after a trip by either encoding. */
function fuzzEncodings(random: SeededRandom): void {
  const event = judgeCandidate(mutatedValue(random, one(random, CANDIDATES)));
  if (event === undefined) return;
  const logs = logsOf(recordOf(event));
  const expected = canonicalEvent(event);
  for (const decoded of [
    decodeLogsProtobuf(encodeLogsProtobuf(logs)),
    decodeLogsJson(JSON.parse(encodeLogsJson(logs))),
  ]) {
    const [found] = eventsIn(decoded);
    expectThat(
      typeof found === "object" && canonicalEvent(found as LifecycleEvent) === expected,
      `not the same after its trip: ${expected}`,
    );
  }
}

function fuzzSnapshot(random: SeededRandom): void {
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
function fuzzJsonl(random: SeededRandom): void {
  const lines: Buffer[] = [];
  let valid = 0;
  for (let line = random.below(6); line >= 0; line -= 1) {
    if (random.below(3) > 0) {
      valid += 1;
      lines.push(Buffer.from(JSON.stringify({ line: valid })));
    } else lines.push(Buffer.from(mutatedBytes(random, Buffer.from('{"broken":[1,2,3')).filter((byte) => byte !== 10)));
  }
  const stream = Buffer.concat(lines.flatMap((line) => [line, Buffer.from(random.below(4) === 0 ? "\r\n" : "\n")]));
  const readers = [createJsonlReader({ maxLineBytes: 256 }), createJsonlReader({ maxLineBytes: 256 })] as const;
  const cut = [...readers[0].push(stream), ...readers[0].end()];
  const pieces = [];
  for (let at = 0; at < stream.length; ) {
    const next = at + 1 + random.below(20);
    pieces.push(...readers[1].push(stream.subarray(at, next)));
    at = next;
  }
  pieces.push(...readers[1].end());
  expectThat(JSON.stringify(pieces) === JSON.stringify(cut), "the chunks of a stream change what is read");
  const kept = cut.filter(
    (item) => item.ok && typeof item.value === "object" && item.value !== null && "line" in item.value,
  );
  expectThat(kept.length === valid, `${kept.length} of ${valid} valid lines were kept`);
}

function fuzzDetails(random: SeededRandom): void {
  const { details } = sanitizeDetails({ fuzzed: mutatedValue(random, one(random, CANDIDATES)) });
  if (details === undefined) return;
  const text = JSON.stringify(details);
  expectThat(utf8Length(text) <= 16 * 1024, "details beyond their bound");
  const again = sanitizeDetails(JSON.parse(text) as Record<string, unknown>);
  expectThat(JSON.stringify(again.details) === text, `sanitizing twice changes it: ${text}`);
}

interface SecretSample {
  readonly in: { readonly text?: string };
  readonly mustNotContain?: readonly string[];
}

const SECRETS = (
  JSON.parse(readFileSync(new URL("../contract/redaction/corpus.json", import.meta.url), "utf8")) as {
    readonly secret: readonly SecretSample[];
  }
).secret.filter(({ in: { text } }) => text !== undefined);

/** A secret is one wherever it stands. */
function fuzzRedaction(random: SeededRandom): void {
  const { in: sample, mustNotContain = [] } = one(random, SECRETS);
  const text = `${filler(random, 20)}\n${sample.text ?? ""}\n${filler(random, 20)}`;
  const redacted = redactText(text);
  for (const secret of mustNotContain) expectThat(!redacted.includes(secret), `a secret survived in: ${text}`);
  expectThat(redactText(redacted) === redacted, `redacting twice changes it: ${redacted}`);
}

function fuzzTimestamp(random: SeededRandom): void {
  const text = mutatedBytes(random, Buffer.from("2026-09-01T09:00:00.123Z")).toString("latin1");
  const time = parseTimestamp(text);
  if (time === undefined) return;
  expectThat(parseTimestamp(formatTimestamp(time)) === time, `${text} is another time when it is written out`);
}

const VECTOR: unknown = JSON.parse(
  readFileSync(new URL("../contract/vectors/01-legal-path-to-completed.json", import.meta.url), "utf8"),
);

function fuzzVector(random: SeededRandom): void {
  const parsedVector = parseVector(mutatedValue(random, VECTOR));
  expectThat(parsedVector.ok || parsedVector.problems.length > 0, "refused without a reason");
}

const SCHEMA = readConfigurationSchema();
const YAML = Buffer.from(readFileSync(new URL("../../examples/deploy/collector.yaml", import.meta.url)));

function fuzzConfiguration(random: SeededRandom): void {
  const { problems } = loadConfiguration(mutatedBytes(random, YAML).toString(), {
    schema: SCHEMA,
    environment: {},
    resolvePath: (path) => path,
  });
  expectThat(problems.length <= 1_000, "problems without bound");
}

export const FUZZ_TARGETS: readonly FuzzTarget[] = [
  { name: "otlp-protobuf", weight: 30, try: fuzzProtobuf },
  { name: "otlp-json", weight: 15, try: fuzzJson },
  { name: "encodings", weight: 10, try: fuzzEncodings },
  { name: "snapshot", weight: 8, try: fuzzSnapshot },
  { name: "jsonl", weight: 10, try: fuzzJsonl },
  { name: "details", weight: 8, try: fuzzDetails },
  { name: "redaction", weight: 8, try: fuzzRedaction },
  { name: "timestamp", weight: 10, try: fuzzTimestamp },
  { name: "vector", weight: 4, try: fuzzVector },
  { name: "configuration", weight: 2, try: fuzzConfiguration },
];
