import protobuf from "protobufjs/minimal.js";
import { utf8Length } from "./text.ts";

const TWO_TO_32 = 4_294_967_296;

/** Writes protobuf front to back into one growing buffer; a nested message is written aside and copied in. */
export class WireWriter {
  private bytes: Uint8Array;
  private view: DataView;
  private length = 0;

  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity);
    this.view = new DataView(this.bytes.buffer);
  }

  /** What has been written; valid until the next change. */
  written(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  private reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.length + count));
    grown.set(this.written());
    this.bytes = grown;
    this.view = new DataView(grown.buffer);
  }

  /** A number of at most 53 bits that is not negative. */
  varint(value: number): void {
    this.reserve(10);
    let rest = value;
    while (rest >= 0x80) {
      // Above 32 bits the operators on integers would cut.
      this.bytes[this.length++] = (rest % 0x80) | 0x80;
      rest = rest < TWO_TO_32 ? rest >>> 7 : Math.floor(rest / 0x80);
    }
    this.bytes[this.length++] = rest;
  }

  /** A safe integer as int64; a negative one takes ten bytes. */
  int64(value: number): void {
    if (value >= 0) {
      this.varint(value);
      return;
    }
    this.reserve(10);
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest >= 0x80n; rest >>= 7n) this.bytes[this.length++] = Number(rest & 0x7fn) | 0x80;
    this.bytes[this.length++] = Number(rest);
  }

  fixed32(value: number): void {
    this.reserve(4);
    this.view.setUint32(this.length, value, true);
    this.length += 4;
  }

  double(value: number): void {
    this.reserve(8);
    this.view.setFloat64(this.length, value, true);
    this.length += 8;
  }

  /** Bytes as they are. */
  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** A length-delimited field. */
  message(tag: number, content: Uint8Array): void {
    this.varint(tag);
    this.varint(content.length);
    this.raw(content);
  }

  /** A text field. */
  text(tag: number, text: string): void {
    this.varint(tag);
    this.textOfLength(text, utf8Length(text));
  }

  /** Text behind its length in UTF-8, which the caller has counted. */
  textOfLength(text: string, bytes: number): void {
    this.varint(bytes);
    this.reserve(bytes);
    if (bytes === text.length && bytes <= LONGEST_BY_CHARACTER) {
      for (let index = 0; index < bytes; index += 1) this.bytes[this.length + index] = text.charCodeAt(index);
    } else protobuf.util.utf8.write(text, this.bytes, this.length);
    this.length += bytes;
  }
}

const LONGEST_BY_CHARACTER = 64;

/** How many bytes a varint of a number that is not negative takes. */
export function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length += 1;
  return length;
}
