import protobuf from "protobufjs/minimal.js";
import { isJsonObject } from "./json.ts";
import { JsonlLineBuffer } from "./jsonl-line-buffer.ts";
import { DEFAULT_MAX_LINE_BYTES, MAX_EXCERPT_LENGTH, MAX_JSONL_DIAGNOSTICS } from "./limits.ts";
import { redactText } from "./redact.ts";
import { cutText } from "./text.ts";

/** A line that holds one JSON object. Nothing of its content has been checked yet. */
export interface JsonlRecord {
  readonly ok: true;
  readonly value: Readonly<Record<string, unknown>>;
  /** Where the line begins, in bytes from the start of the stream. */
  readonly byteOffset: number;
  /** Counted from 1, blank lines included. */
  readonly line: number;
  /** Whether a line end followed; only the last line of a stream can lack it. */
  readonly terminated: boolean;
}

export type JsonlProblemCode = "malformed" | "oversize" | "truncated";

/** A line that holds none. */
export interface JsonlProblem {
  readonly ok: false;
  readonly code: JsonlProblemCode;
  readonly byteOffset: number;
  readonly line: number;
  /** The beginning of the line, redacted, at most 120 characters. */
  readonly excerpt: string;
}

export type JsonlItem = JsonlRecord | JsonlProblem;

export interface JsonlReaderOptions {
  /** Longest line in bytes, without its line end. Default 64 KiB. A longer one is `oversize` and is never held. */
  readonly maxLineBytes?: number;
}

export interface JsonlReader {
  /** Takes the next bytes of the stream, cut anywhere, and returns what they complete, in order. */
  push(chunk: Uint8Array): JsonlItem[];
  /**
   * The stream ends. A last line without a line end counts if it is a whole JSON object, and is `truncated` if not.
   */
  end(): JsonlItem[];
  /** How many lines had which problem; problems after the 32nd are only counted here. */
  readonly problems: Readonly<Record<JsonlProblemCode, number>>;
}

/**
 * An incremental reader of JSON Lines (contract section 6): linear in its input, with at most one line in memory. Bad
 * lines cost none of the good ones around them. A byte-order mark, CRLF and blank lines are fine.
 * @throws RangeError when `maxLineBytes` is no positive integer.
 */
export function createJsonlReader(options: JsonlReaderOptions = {}): JsonlReader {
  const maxLineBytes = options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES;
  if (!Number.isSafeInteger(maxLineBytes) || maxLineBytes < 1) {
    throw new RangeError(`maxLineBytes must be a positive integer, not ${maxLineBytes}`);
  }
  return new Reader(maxLineBytes);
}

const LINE_FEED = 0x0a;

class Reader implements JsonlReader {
  readonly problems: Record<JsonlProblemCode, number> = { malformed: 0, oversize: 0, truncated: 0 };
  private readonly maxLineBytes: number;
  private readonly buffer: JsonlLineBuffer;
  private described = 0;
  private lineStart = 0;
  private line = 1;

  constructor(maxLineBytes: number) {
    this.maxLineBytes = maxLineBytes;
    // Room for what is not counted: a byte-order mark and a carriage return.
    this.buffer = new JsonlLineBuffer(maxLineBytes + 4);
  }

  push(chunk: Uint8Array): JsonlItem[] {
    const items: JsonlItem[] = [];
    let position = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, position);
      if (end < 0) break;
      if (this.buffer.length === 0) this.finishLine(chunk.subarray(position, end), end - position, items, true);
      else {
        this.buffer.append(chunk.subarray(position, end));
        this.finishLine(this.buffer.bytes(), this.buffer.length, items, true);
        this.buffer.clear();
      }
      position = end + 1;
    }
    if (position < chunk.length) this.buffer.append(chunk.subarray(position));
    return items;
  }

  end(): JsonlItem[] {
    const items: JsonlItem[] = [];
    if (this.buffer.length > 0) this.finishLine(this.buffer.bytes(), this.buffer.length, items, false);
    this.buffer.clear();
    return items;
  }

  /** @param length how long the line was; more than `bytes` holds when it was too long to be kept */
  private finishLine(bytes: Uint8Array, length: number, items: JsonlItem[], terminated: boolean): void {
    const start = this.lineStart === 0 && hasByteOrderMark(bytes) ? 3 : 0;
    const end = terminated && bytes.length === length && bytes[length - 1] === 0x0d ? length - 1 : bytes.length;
    if (length > bytes.length || end - start > this.maxLineBytes) this.report("oversize", bytes, start, end, items);
    else if (!isBlank(bytes, start, end)) {
      const value = parseObject(bytes, start, end);
      const { line, lineStart: byteOffset } = this;
      if (value !== undefined) items.push({ ok: true, value, byteOffset, line, terminated });
      else this.report(terminated ? "malformed" : "truncated", bytes, start, end, items);
    }
    this.lineStart += length + 1;
    this.line += 1;
  }

  private report(code: JsonlProblemCode, bytes: Uint8Array, start: number, end: number, items: JsonlItem[]): void {
    this.problems[code] += 1;
    if (this.described >= MAX_JSONL_DIAGNOSTICS) return;
    this.described += 1;
    // The sample is what is kept of every oversize line, however the stream was cut.
    const sampleEnd = start + Math.min(OVERSIZE_SAMPLE_BYTES, this.maxLineBytes);
    const excerpt =
      code === "oversize" ? oversizeExcerpt(decode(bytes, start, sampleEnd)) : excerptOf(decode(bytes, start, end));
    items.push({ ok: false, code, byteOffset: this.lineStart, line: this.line, excerpt });
  }
}

function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** JSON's own white space only. */
function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  for (let index = start; index < end; index += 1) {
    const byte = bytes[index];
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false;
  }
  return true;
}

function parseObject(bytes: Uint8Array, start: number, end: number): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(protobuf.util.utf8.readStrict(bytes, start, end));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function decode(bytes: Uint8Array, start: number, end: number): string {
  return protobuf.util.utf8.read(bytes, start, end);
}

function excerptOf(text: string): string {
  return cutText(redactText(text), MAX_EXCERPT_LENGTH);
}

/** A sample that ends inside a secret may not show as one: its last word goes, and then it is redacted. */
function oversizeExcerpt(sample: string): string {
  let end = sample.length;
  while (end > sample.length - LONGEST_WORD && end > 0 && !WORD_ENDS.includes(sample[end - 1] as string)) end -= 1;
  return excerptOf(sample.slice(0, end));
}

const OVERSIZE_SAMPLE_BYTES = 1024;
const LONGEST_WORD = 512;
const WORD_ENDS = " \t\r,";
