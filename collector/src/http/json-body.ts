import { isUtf8 } from "node:buffer";
import { HttpRefusal } from "./http-refusal.ts";

/** Nesting that is parsed; no message of ours needs a quarter of it. */
const MAX_DEPTH = 128;
/** Objects and lists in one body. A parsed one takes some 20 times the bytes of `{},`: this bounds that. */
const MAX_CONTAINERS = 4_000_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Parses a JSON body. Strict UTF-8, a byte-order mark is fine; the shape is bounded before anything is built, since a
 * parsed value can be far larger than its text.
 * @throws HttpRefusal `malformed`.
 */
export function parseJsonBody(body: Buffer): unknown {
  if (!isUtf8(body)) throw new HttpRefusal("malformed", "the body is no UTF-8");
  const problem = shapeProblem(body);
  if (problem !== undefined) throw new HttpRefusal("malformed", problem);
  const text = body.toString("utf8");
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) as unknown;
  } catch {
    throw new HttpRefusal("malformed", "the body is no JSON");
  }
}

function shapeProblem(body: Buffer): string | undefined {
  let depth = 0;
  let containers = 0;
  for (let index = 0; index < body.length; index += 1) {
    switch (body[index]) {
      case QUOTE:
        index = endOfText(body, index);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1;
        containers += 1;
        if (depth > MAX_DEPTH) return `the JSON is nested more than ${MAX_DEPTH} levels deep`;
        if (containers > MAX_CONTAINERS) return `the JSON has more than ${MAX_CONTAINERS} objects and lists`;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
        break;
    }
  }
  return undefined;
}

/** Position of the closing quote, found from quote to quote; one behind an odd number of backslashes is not it. */
function endOfText(body: Buffer, start: number): number {
  let end = start;
  for (;;) {
    end = body.indexOf(QUOTE, end + 1);
    if (end < 0) return body.length;
    let backslashes = 0;
    while (body[end - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
}
