import type { SeededRandom } from "../kit/seeded-random.ts";
import { rarityOf } from "./mutations.ts";

/** Which fields of a message are messages, by tag. */
interface MessageShape {
  readonly [tag: number]: MessageShape;
}

const ANY_VALUE: MessageShape = { 42: {}, 50: {} };
const KEY_VALUE: MessageShape = { 18: ANY_VALUE };
const LOG_RECORD: MessageShape = { 42: ANY_VALUE, 50: KEY_VALUE };
/** ExportLogsServiceRequest, as far as anything can go wrong in it. */
const REQUEST: MessageShape = { 10: { 10: { 10: KEY_VALUE }, 18: { 18: LOG_RECORD } } };

/** A field as it stood: its tag, and its content without the length. */
interface WireField {
  readonly tag: number;
  readonly content: Buffer;
}

const LENGTH_DELIMITED = 2;
const START_GROUP = 3;
const END_GROUP = 4;

/** Protobuf in which fields are doubled, missing, moved, unknown, of another type, or not as long as they say. */
export function mutatedMessage(random: SeededRandom, message: Buffer): Buffer {
  const rarity = rarityOf(random);
  return mutate(random, message, REQUEST, (_random, field) => lie(random, field, rarity));
}

/** The same request in other bytes: what is added means nothing, and what is moved may stand anywhere. */
export function disguisedMessage(random: SeededRandom, message: Buffer): Buffer {
  return mutate(random, message, REQUEST, (_random, field) => [encoded(field)]);
}

type Change = (random: SeededRandom, field: WireField) => readonly Buffer[];

function mutate(random: SeededRandom, message: Buffer, shape: MessageShape, change: Change): Buffer {
  const pieces: Buffer[] = [];
  for (const field of fieldsOf(message)) {
    const inner = shape[field.tag];
    if (random.below(30) === 0) pieces.push(unknownField(random, 0));
    const changed =
      inner === undefined ? field : { tag: field.tag, content: mutate(random, field.content, inner, change) };
    pieces.push(...change(random, changed));
  }
  if (random.below(30) === 0) pieces.push(unknownField(random, 0));
  return Buffer.concat(pieces);
}

function lie(random: SeededRandom, field: WireField, rarity: number): readonly Buffer[] {
  if (random.below(25 * rarity) > 0) return [encoded(field)];
  const { tag, content } = field;
  switch (random.below(9)) {
    case 0:
      return [];
    case 1:
      return [encoded(field), encoded(field)];
    case 2:
      return [encoded({ tag: (tag & ~7) | random.below(8), content })];
    case 3:
      return [encoded({ tag: (random.below(20) << 3) | (tag & 7), content })];
    case 4:
      return [varint(tag), varint(Math.max(0, content.length + random.below(9) - 4)), content];
    case 5:
      return [varint(tag), varint(2 ** 32 - 1 - random.below(3)), content];
    case 6:
      return [varint(tag), longNumber(random), content];
    case 7:
      return [nestedValue(random)];
    default:
      return [varint(tag), varint(content.length), content.subarray(0, random.below(content.length + 1))];
  }
}

/** A field that no message of OTLP has, of any wire type, groups included. */
function unknownField(random: SeededRandom, depth: number): Buffer {
  const number = 500 + random.below(400);
  switch (random.below(depth < 4 ? 5 : 4)) {
    case 0:
      return Buffer.concat([varint(number << 3), varint(random.below(2 ** 31))]);
    case 1:
      return Buffer.concat([varint((number << 3) | 1), Buffer.alloc(8, random.below(256))]);
    case 2:
      return encoded({ tag: (number << 3) | LENGTH_DELIMITED, content: Buffer.alloc(random.below(40), 0xff) });
    case 3:
      return Buffer.concat([varint((number << 3) | 5), Buffer.alloc(4, random.below(256))]);
    default:
      return Buffer.concat([
        varint((number << 3) | START_GROUP),
        unknownField(random, depth + 1),
        varint((number << 3) | END_GROUP),
      ]);
  }
}

/** An attribute whose value is a list in a list, and so on, about as deep as is read and deeper. */
function nestedValue(random: SeededRandom): Buffer {
  let value: Buffer = Buffer.alloc(0);
  for (let level = 40 + random.below(60); level > 0; level -= 1) {
    value = encoded({ tag: 42, content: encoded({ tag: 10, content: value }) });
  }
  const key = encoded({ tag: 10, content: Buffer.from("agent_lifecycle.details") });
  return encoded({ tag: 50, content: Buffer.concat([key, encoded({ tag: 18, content: value })]) });
}

function encoded({ tag, content }: WireField): Buffer {
  return (tag & 7) === LENGTH_DELIMITED
    ? Buffer.concat([varint(tag), varint(content.length), content])
    : Buffer.concat([varint(tag), content]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return Buffer.from([...bytes, rest]);
}

/** A number of as many bytes as there may be, or of more. */
function longNumber(random: SeededRandom): Buffer {
  return Buffer.from([...Array.from({ length: 8 + random.below(5) }, () => 0x80 | random.below(128)), random.below(2)]);
}

/** The fields of valid protobuf without groups. */
function fieldsOf(message: Buffer): readonly WireField[] {
  const fields: WireField[] = [];
  let position = 0;
  const readVarint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = message[position] ?? 0;
      position += 1;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };
  while (position < message.length) {
    const tag = readVarint();
    const wireType = tag & 7;
    let start = position;
    if (wireType === 0) readVarint();
    else if (wireType === LENGTH_DELIMITED) {
      const length = readVarint();
      start = position;
      position += length;
    } else position += wireType === 1 ? 8 : 4;
    fields.push({ tag, content: message.subarray(start, position) });
  }
  return fields;
}
