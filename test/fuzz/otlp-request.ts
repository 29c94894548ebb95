import { EVENT_NAME_PREFIX } from "@agent-lifecycle/proto";
import { ReflectedRequest } from "../kit/otlp-logs.ts";
import type { SeededRandom } from "../kit/seeded-random.ts";
import { PROTOBUF_LOGS } from "./events.ts";
import { noise } from "./mutations.ts";
import { one } from "./target.ts";

/** One alternative of AnyValue; none at all is a value that is empty. */
type AnyValue =
  | Readonly<Record<string, never>>
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: bigint }
  | { readonly doubleValue: number }
  | { readonly bytesValue: Buffer }
  | { readonly arrayValue: { readonly values: readonly AnyValue[] } }
  | { readonly kvlistValue: { readonly values: readonly KeyValue[] } };

interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

export interface LogRecord {
  readonly timeUnixNano: bigint;
  readonly observedTimeUnixNano: bigint;
  readonly traceId: Buffer;
  readonly spanId: Buffer;
  readonly eventName: string;
  readonly attributes: readonly KeyValue[];
}

/** Valid records, one for each event, as a reflection of the schema reads them. */
export const RECORDS: readonly LogRecord[] = recordsIn(PROTOBUF_LOGS);

interface ReflectedValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string;
}

interface ReflectedRecord extends Omit<LogRecord, "timeUnixNano" | "observedTimeUnixNano" | "attributes"> {
  readonly timeUnixNano: string;
  readonly observedTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: ReflectedValue }[];
}

function recordsIn(bytes: Buffer): readonly LogRecord[] {
  const { resourceLogs } = ReflectedRequest.toObject(ReflectedRequest.decode(bytes), { longs: String }) as {
    readonly resourceLogs: readonly {
      readonly scopeLogs: readonly { readonly logRecords: readonly ReflectedRecord[] }[];
    }[];
  };
  return resourceLogs.flatMap(({ scopeLogs }) =>
    scopeLogs.flatMap(({ logRecords }) =>
      logRecords.map((record) => ({
        timeUnixNano: BigInt(record.timeUnixNano),
        observedTimeUnixNano: BigInt(record.observedTimeUnixNano),
        traceId: record.traceId,
        spanId: record.spanId,
        eventName: record.eventName,
        attributes: record.attributes.map(({ key, value }) => ({ key, value: anyValueOf(value) })),
      })),
    ),
  );
}

function anyValueOf({ stringValue, boolValue, intValue }: ReflectedValue): AnyValue {
  if (intValue !== undefined) return { intValue: BigInt(intValue) };
  if (boolValue !== undefined) return { boolValue };
  return stringValue === undefined ? {} : { stringValue };
}

const INTEGERS = [0n, 1n, -1n, 2n ** 31n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 63n - 1n, -(2n ** 63n)];
const DOUBLES = [0, -0, 1, 1.5, 1e21, -1e308, 5e-324, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
const TEXTS = [
  "",
  "known",
  "{}",
  '{"a":[1,{"__proto__":2}]}',
  "x".repeat(300),
  "🙂".repeat(30),
  "é",
  "\u0000",
  "running",
];
const TIMES = [0n, 1n, 999_999n, 1_790_000_000_123_456_789n, 2n ** 63n, 2n ** 64n - 1n];
const FURTHER_KEYS = ["", "__proto__", "constructor", "agent_lifecycle", "agent_lifecycle.child_ie", "🙂"];

function anyValue(random: SeededRandom, depth: number): AnyValue {
  switch (random.below(depth < 4 ? 8 : 6)) {
    case 0:
      return {};
    case 1:
      return { stringValue: one(random, TEXTS) };
    case 2:
      return { boolValue: random.below(2) === 0 };
    case 3:
      return { intValue: one(random, INTEGERS) };
    case 4:
      return { doubleValue: one(random, DOUBLES) };
    case 5:
      return { bytesValue: noise(random, 20) };
    case 6:
      return { arrayValue: { values: several(random, () => anyValue(random, depth + 1)) } };
    default:
      return {
        kvlistValue: {
          values: several(random, () => ({ key: one(random, FURTHER_KEYS), value: anyValue(random, depth + 1) })),
        },
      };
  }
}

function several<Item>(random: SeededRandom, make: () => Item): readonly Item[] {
  return Array.from({ length: random.below(4) }, make);
}

/** A record of OTLP as it should be, with contents that no event has. */
export function mutatedRecord(random: SeededRandom): LogRecord {
  const record = one(random, RECORDS);
  const keys = record.attributes.map(({ key }) => key);
  const attributes = record.attributes.flatMap((attribute): KeyValue[] => {
    if (random.below(24) === 0) return [];
    if (random.below(24) === 0) return [{ key: attribute.key, value: anyValue(random, 0) }];
    return random.below(24) === 0
      ? [attribute, { key: one(random, [...keys, ...FURTHER_KEYS]), value: anyValue(random, 0) }]
      : [attribute];
  });
  return {
    timeUnixNano: random.below(6) === 0 ? one(random, TIMES) : record.timeUnixNano,
    observedTimeUnixNano: random.below(6) === 0 ? one(random, TIMES) : record.observedTimeUnixNano,
    traceId: random.below(6) === 0 ? identifier(random, 16) : record.traceId,
    spanId: random.below(6) === 0 ? identifier(random, 8) : record.spanId,
    eventName: random.below(8) === 0 ? one(random, ["", EVENT_NAME_PREFIX, "created", ...TEXTS]) : record.eventName,
    attributes: random.below(4) === 0 ? random.shuffled(attributes) : attributes,
  };
}

function identifier(random: SeededRandom, length: number): Buffer {
  return one(random, [
    Buffer.alloc(length),
    Buffer.alloc(length, 7),
    Buffer.alloc(0),
    Buffer.alloc(length - 1, 9),
    Buffer.alloc(length + 1, 9),
  ]);
}

/** By the reflection: a second opinion on what the bytes are. */
export function asProtobuf(logRecords: readonly LogRecord[]): Buffer {
  const request = {
    resourceLogs: [{ scopeLogs: [{ logRecords: logRecords.map((record) => protobufForm(record)) }] }],
  };
  return Buffer.from(ReflectedRequest.encode(ReflectedRequest.fromObject(request)).finish());
}

/** The reflection takes 64-bit integers as text, unsigned ones too. */
function protobufForm(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return value.map(protobufForm);
  if (typeof value !== "object" || value === null || Buffer.isBuffer(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, protobufForm(member)]));
}

/** By the rules of OTLP/JSON (H18, H20): ids in hexadecimal, other bytes in base64, 64-bit integers as text. */
export function asJson(logRecords: readonly LogRecord[]): string {
  return JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: logRecords.map(jsonRecord) }] }] });
}

function jsonRecord(record: LogRecord): unknown {
  return {
    ...record,
    timeUnixNano: record.timeUnixNano.toString(),
    observedTimeUnixNano: record.observedTimeUnixNano.toString(),
    traceId: record.traceId.toString("hex"),
    spanId: record.spanId.toString("hex"),
    attributes: record.attributes.map(({ key, value }) => ({ key, value: jsonValue(value) })),
  };
}

function jsonValue(value: AnyValue): unknown {
  if ("intValue" in value) return { intValue: value.intValue.toString() };
  if ("doubleValue" in value) {
    const number = value.doubleValue;
    return { doubleValue: Number.isFinite(number) && !Object.is(number, -0) ? number : doubleText(number) };
  }
  if ("bytesValue" in value) return { bytesValue: value.bytesValue.toString("base64") };
  if ("arrayValue" in value) return { arrayValue: { values: value.arrayValue.values.map(jsonValue) } };
  if ("kvlistValue" in value) {
    return {
      kvlistValue: {
        values: value.kvlistValue.values.map(({ key, value: member }) => ({ key, value: jsonValue(member) })),
      },
    };
  }
  return value;
}

function doubleText(number: number): string {
  return Object.is(number, -0) ? "-0" : String(number);
}
