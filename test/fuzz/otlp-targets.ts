import { isDeepStrictEqual } from "node:util";
import {
  canonicalEvent,
  type DecodedLogs,
  decodeExportResponseJson,
  decodeExportResponseProtobuf,
  decodeLogsJson,
  decodeLogsProtobuf,
  decodeStatusJson,
  decodeStatusProtobuf,
  type ExportOutcome,
  encodeExportResponseJson,
  encodeExportResponseProtobuf,
  encodeLogsJson,
  encodeLogsProtobuf,
  encodeStatusJson,
  encodeStatusProtobuf,
  type LifecycleEvent,
  normalizeEvent,
  type RpcStatus,
} from "@agent-lifecycle/proto";
import { eventsIn, logsOf, ReflectedRequest, recordOf } from "../kit/otlp-logs.ts";
import type { SeededRandom } from "../kit/seeded-random.ts";
import { CANDIDATES, EVENTS, judgeCandidate, PROTOBUF_LOGS } from "./events.ts";
import { disguisedJson } from "./json-disguise.ts";
import { mutatedBytes, mutatedTokens, mutatedValue, noise } from "./mutations.ts";
import { asJson, asProtobuf, type LogRecord, mutatedRecord, RECORDS } from "./otlp-request.ts";
import { expectThat, type FuzzTarget, MAX_PROBLEM_LENGTH, one, parsed, pureTarget } from "./target.ts";
import { disguisedMessage, mutatedMessage } from "./wire-mutations.ts";

const JSON_TEXT = encodeLogsJson(logsOf(...EVENTS.map(recordOf)));
const JSON_VALUE: unknown = JSON.parse(JSON_TEXT);

function judgeDecoded(decoded: DecodedLogs, inputLength: number): void {
  if (!decoded.ok) {
    expectThat(decoded.problem.length > 0 && decoded.problem.length < MAX_PROBLEM_LENGTH, "a problem without bound");
    return;
  }
  expectThat(decoded.records.length <= inputLength / 2, "more records than the input has room for");
  for (const record of decoded.records) if (!record.foreign) judgeCandidate(record.candidate);
}

function judgeProtobuf(random: SeededRandom): void {
  const bytes = one(random, [
    () => noise(random, 400),
    () => mutatedBytes(random, PROTOBUF_LOGS),
    () => mutatedBytes(random, PROTOBUF_LOGS),
    () => mutatedMessage(random, PROTOBUF_LOGS),
    () => mutatedMessage(random, PROTOBUF_LOGS),
    () => mutatedBytes(random, mutatedMessage(random, PROTOBUF_LOGS)),
  ])();
  const decoded = decodeLogsProtobuf(bytes);
  judgeDecoded(decoded, bytes.length);
  if (decoded.ok) judgeBySecondOpinion(bytes, decoded);
}

/** What a reflection of the schema can read as well is the same when the reflection has written it again. */
function judgeBySecondOpinion(bytes: Buffer, decoded: DecodedLogs & { readonly ok: true }): void {
  let rewritten: Uint8Array;
  try {
    rewritten = ReflectedRequest.encode(ReflectedRequest.decode(bytes)).finish();
  } catch {
    // It reads everything, also what we pass over.
    return;
  }
  const again = decodeLogsProtobuf(rewritten);
  expectThat(again.ok && isDeepStrictEqual(again.records, decoded.records), "a second opinion reads something else");
}

function judgeJson(random: SeededRandom): void {
  const value = one(random, [
    () => parsed(mutatedBytes(random, Buffer.from(JSON_TEXT)).toString()),
    () => parsed(mutatedTokens(random, JSON_TEXT)),
    () => mutatedValue(random, JSON_VALUE),
  ])();
  if (value !== undefined) judgeDecoded(decodeLogsJson(value), JSON.stringify(value).length);
}

/** What can be normalized is the same event after a trip by either encoding. */
function judgeRoundTrip(random: SeededRandom): void {
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

/** The same request in either encoding, and disguised, is the same evidence; valid records around others are kept. */
function judgeAgreement(random: SeededRandom): void {
  const places = Array.from({ length: 1 + random.below(4) }, () => random.below(2) === 0);
  const records = places.map((isValid): LogRecord => (isValid ? one(random, RECORDS) : mutatedRecord(random)));
  const bytes = asProtobuf(records);
  const plain = decodeLogsProtobuf(bytes);
  const jsonRequest: unknown = JSON.parse(asJson(records));
  const json = decodeLogsJson(jsonRequest);
  const otherJson = disguisedJson(random, jsonRequest);
  const rewritten = decodeLogsJson(otherJson);
  const disguised = decodeLogsProtobuf(disguisedMessage(random, bytes));
  expectThat(plain.ok && json.ok && disguised.ok, "a request that is one was not read");
  expectThat(plain.records.length === records.length, "records are missing");
  expectThat(
    isDeepStrictEqual(disguised.records, plain.records),
    `unknown fields change what is read: ${asJson(records)}`,
  );
  expectThat(
    rewritten.ok && isDeepStrictEqual(rewritten.records, json.records),
    `another writing changes what is read: ${JSON.stringify(otherJson)}`,
  );
  for (const other of [json, disguised, rewritten]) {
    expectThat(isDeepStrictEqual(other.tolerated, plain.tolerated), `what was tolerated differs: ${asJson(records)}`);
  }
  for (const [place, record] of plain.records.entries()) {
    expectThat(
      isDeepStrictEqual(json.records[place], record),
      `protobuf and JSON disagree: ${JSON.stringify([record, json.records[place]])}`,
    );
    if (places[place]) {
      expectThat(!record.foreign && normalizeEvent(record.candidate).ok, "a valid record was lost");
    }
  }
}

const OUTCOMES: readonly ExportOutcome[] = [
  { rejectedLogRecords: 0, errorMessage: "" },
  { rejectedLogRecords: 2 ** 40, errorMessage: "record 1: eventId is missing 🙂" },
];
const STATUSES: readonly RpcStatus[] = [
  { code: 3, message: "no", fieldViolations: [{ field: "body", description: "is no protobuf" }] },
  { code: 14, message: "later", retryDelayMs: 1_500 },
];

/** Answers are read by the SDK from whoever answers: they too may be anything. */
function judgeAnswers(random: SeededRandom): void {
  const outcome = one(random, OUTCOMES);
  const status = one(random, STATUSES);
  const again = [
    decodeExportResponseProtobuf(encodeExportResponseProtobuf(outcome)),
    decodeExportResponseJson(JSON.parse(encodeExportResponseJson(outcome))),
  ];
  for (const found of again) expectThat(isDeepStrictEqual(found, outcome), "an outcome is another after its trip");
  decodeExportResponseProtobuf(mutatedBytes(random, Buffer.from(encodeExportResponseProtobuf(OUTCOMES[1] ?? outcome))));
  decodeExportResponseJson(mutatedValue(random, JSON.parse(encodeExportResponseJson(outcome))));
  decodeStatusProtobuf(mutatedBytes(random, Buffer.from(encodeStatusProtobuf(status))));
  decodeStatusJson(mutatedValue(random, JSON.parse(encodeStatusJson(status))));
}

export const OTLP_TARGETS: readonly FuzzTarget[] = [
  pureTarget("otlp-protobuf", 30, judgeProtobuf),
  pureTarget("otlp-json", 15, judgeJson),
  pureTarget("encodings", 10, judgeRoundTrip),
  pureTarget("agreement", 10, judgeAgreement),
  pureTarget("answers", 6, judgeAnswers),
];
