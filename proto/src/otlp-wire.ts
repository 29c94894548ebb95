import protobuf from "protobufjs/minimal.js";

/** The input is no protobuf of the expected shape. Thrown and caught inside this package only. */
export class WireError extends Error {}

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const START_GROUP = 3;
const END_GROUP = 4;
const FIXED32 = 5;

const MAX_GROUP_DEPTH = 64;

/** A position in protobuf bytes, with the few readings that OTLP logs need. Reading past the end is a `WireError`. */
export class WireCursor {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  position = 0;
  /** Lists and maps that were read. */
  containers = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** A tag or a length. Nearly all take one byte. */
  varint(): number {
    const { bytes, position } = this;
    const byte = bytes[position];
    if (byte !== undefined && byte < 0x80) {
      this.position = position + 1;
      return byte;
    }
    return this.longVarint();
  }

  /** An unsigned varint below 2^32; what lies above the 32nd bit is cut, as protobuf has it. */
  private longVarint(): number {
    const { bytes } = this;
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = bytes[this.position];
      if (byte === undefined) throw new WireError("the input ends inside a number");
      this.position += 1;
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw new WireError(`a number of more than ten bytes at byte ${this.position}`);
  }

  /** The end of a length-delimited field whose tag has been read; it lies inside `outerEnd`. */
  enter(outerEnd: number): number {
    const length = this.varint();
    const end = this.position + length;
    if (end > outerEnd) throw new WireError(`a field at byte ${this.position} runs past the message around it`);
    return end;
  }

  /** A message must end where its length said. */
  leave(end: number): void {
    if (this.position !== end) throw new WireError(`a message does not end at byte ${end} as its length says`);
  }

  fixed32(): number {
    const start = this.advance(4);
    return this.view.getUint32(start, true);
  }

  double(): number {
    const start = this.advance(8);
    return this.view.getFloat64(start, true);
  }

  bool(): boolean {
    return this.int64() !== 0;
  }

  private advance(length: number): number {
    const start = this.position;
    if (start + length > this.bytes.length) throw new WireError("the input ends inside a field");
    this.position = start + length;
    return start;
  }

  /** Passes over the field whose tag has been read. */
  skip(tag: number): void {
    let depth = 0;
    let current = tag;
    for (;;) {
      if (current >>> 3 === 0) throw new WireError(`field number 0 at byte ${this.position}`);
      const wireType = current & 7;
      if (wireType === VARINT) this.int64();
      else if (wireType === FIXED64) this.advance(8);
      else if (wireType === LENGTH_DELIMITED) this.advance(this.varint());
      else if (wireType === FIXED32) this.advance(4);
      else if (wireType === START_GROUP && depth < MAX_GROUP_DEPTH) depth += 1;
      else if (wireType === END_GROUP && depth > 0) depth -= 1;
      else throw new WireError(`no such wire type at byte ${this.position}`);
      if (depth === 0) return;
      current = this.varint();
    }
  }

  text(start: number, end: number): string {
    this.position = end;
    const { bytes } = this;
    return end - start > LONGEST_ASSEMBLED
      ? decodeSlice(bytes, start, end)
      : protobuf.util.utf8.read(bytes, start, end);
  }

  /** A varint as a signed 64-bit integer; exact within ±2^53. */
  int64(): number {
    const { bytes } = this;
    let low = 0;
    let high = 0;
    let position = this.position;
    for (let shift = 0; shift < 70; shift += 7) {
      if (position >= bytes.length) throw new WireError("the input ends inside a number");
      const byte = bytes[position] as number;
      position += 1;
      if (shift < 28) low |= (byte & 0x7f) << shift;
      else if (shift === 28) {
        low |= (byte & 0x0f) << 28;
        high |= (byte & 0x70) >>> 4;
      } else high |= (byte & 0x7f) << (shift - 32);
      if (byte < 0x80) {
        this.position = position;
        return (high | 0) * 4_294_967_296 + (low >>> 0);
      }
    }
    throw new WireError(`a number of more than ten bytes at byte ${this.position}`);
  }

  /**
   * Whether two spans of the input hold the same bytes. Eight at a time as doubles: NaN and zero, whose bytes doubles
   * do not tell apart, count as different, which costs the caller a second look and nothing else.
   */
  sameBytes(first: number, second: number, length: number): boolean {
    const { view, bytes } = this;
    if (length < 8) {
      for (let offset = 0; offset < length; offset += 1) {
        if (bytes[first + offset] !== bytes[second + offset]) return false;
      }
      return true;
    }
    // The end differs more often than the beginning, and may overlap the eight before it.
    for (let offset = length - 8; ; offset = offset > 8 ? offset - 8 : 0) {
      const word = view.getFloat64(first + offset, true);
      if (word !== view.getFloat64(second + offset, true) || word === 0) return false;
      if (offset === 0) return true;
    }
  }
}

const LONGEST_ASSEMBLED = 24;

function decodeSlice(bytes: Uint8Array, start: number, end: number): string {
  const buffer = bytes as Uint8Array & { utf8Slice?: (start: number, end: number) => string };
  return buffer.utf8Slice === undefined ? protobuf.util.utf8.read(bytes, start, end) : buffer.utf8Slice(start, end);
}

/** The bytes of base64 text, with or without padding; `undefined` for other text. */
export function base64Bytes(text: string): Uint8Array | undefined {
  const unpadded = text.replace(/={1,2}$/, "");
  if (!/^[A-Za-z0-9+/]+$/.test(unpadded) || unpadded.length % 4 === 1) return undefined;
  const bytes = new Uint8Array(Math.floor((unpadded.length * 3) / 4));
  protobuf.util.base64.decode(unpadded.padEnd(Math.ceil(unpadded.length / 4) * 4, "="), bytes, 0);
  return bytes;
}
