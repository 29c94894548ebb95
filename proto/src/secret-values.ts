import type { NameVerdict } from "./secret-names.ts";

/** Where the value of an assignment lies in its text. */
export interface ValueSpan {
  readonly start: number;
  readonly end: number;
}

const QUOTES = "\"'`";
const HEADER_NAME = /^(?:proxy-)?authorization$|^(?:set-)?cookie$/i;
const SCHEME = /^(?:basic|bearer|digest|token|apikey|negotiate|aws4-hmac-sha256)[ \t]+/i;
const SPACES = /[ \t]/;

/**
 * The extent of the value that begins at or after `from`: quoted text, a bracketed list or object, the rest of the line
 * for headers with several parts, or a run without spaces.
 */
export function findValueEnd(text: string, from: number, separator: string, name: string): ValueSpan | undefined {
  let start = from;
  while (start < text.length && start < from + 16 && SPACES.test(text[start] as string)) start += 1;
  if (start >= text.length) return undefined;
  const backslashes = backslashesAt(text, start);
  const isEscapedQuote = backslashes > 0 && QUOTES.includes(text[start + backslashes] ?? " ");
  if (isEscapedQuote) start += backslashes;
  const first = text[start] as string;
  if (QUOTES.includes(first)) {
    const end = quotedEnd(text, start + 1, first, isEscapedQuote ? backslashes : 0);
    return nonEmpty(afterScheme(text, start + 1, end, name));
  }
  if (first === "{" || (first === "[" && !text.startsWith("[redacted", start)))
    return nonEmpty({ start, end: runEnd(text, bracketEnd(text, start)) });
  if (separator === ":" && HEADER_NAME.test(name))
    return nonEmpty(afterScheme(text, start, lineEnd(text, start), name));
  return nonEmpty({ start, end: runEnd(text, start) });
}

function nonEmpty(span: ValueSpan): ValueSpan | undefined {
  return span.end > span.start ? span : undefined;
}

/** `Authorization: Bearer …` keeps its scheme: which kind of credential it was is worth knowing. */
function afterScheme(text: string, start: number, end: number, name: string): ValueSpan {
  if (!/auth/i.test(name)) return { start, end };
  const scheme = SCHEME.exec(text.slice(start, Math.min(end, start + 64)));
  return { start: start + (scheme === null ? 0 : scheme[0].length), end };
}

function backslashesAt(text: string, start: number): number {
  let end = start;
  while (text.charCodeAt(end) === BACKSLASH) end += 1;
  return end - start;
}

const BACKSLASH = 0x5c;

/**
 * Where the closing quote begins, its backslashes included, or the end of the text: a quoted secret may be cut off, and
 * may span lines. Text that is escaped again doubles its backslashes and adds one to each quote, so that the number of
 * them says what a quote closes: the value, a text around it, or nothing.
 * @param level backslashes before the opening quote
 */
function quotedEnd(text: string, from: number, quote: string, level: number): number {
  let index = from;
  while (index < text.length) {
    const backslashes = backslashesAt(text, index);
    const behind = index + backslashes;
    if (text[behind] === quote) {
      if (backslashes < level) return index;
      const closes = backslashes % (2 * level + 2) === level;
      // Where only the backslashes were escaped, a word goes on behind the quote.
      if (closes && (backslashes === level || !/\w/.test(text[behind + 1] ?? ""))) return behind - level;
    }
    index = behind + 1;
  }
  return text.length;
}

/** Behind the bracket that closes the one at `start`, or the end of the text. */
function bracketEnd(text: string, start: number): number {
  let depth = 0;
  for (let index = start; index < text.length; index += 1) {
    const unit = text[index];
    if (unit === "{" || unit === "[") depth += 1;
    else if (unit === "}" || unit === "]") {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  return text.length;
}

const LINE_ENDS = "\r\n\"'`";

function lineEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && !LINE_ENDS.includes(text[end] as string)) end += 1;
  while (end > from && SPACES.test(text[end - 1] as string)) end -= 1;
  return end;
}

const RUN_ENDS = " \t\r\n\"'`&;<>|";
const PUNCTUATION = ",.)}:";

/** The end of an unquoted value. A comma ends it only before a space: passwords contain commas. */
function runEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length) {
    const unit = text[end] as string;
    if (RUN_ENDS.includes(unit)) break;
    const backslashes = backslashesAt(text, end);
    if (backslashes > 0 && QUOTES.includes(text[end + backslashes] ?? " ")) break;
    end += Math.max(1, backslashes);
  }
  const punctuation = text.startsWith("${", from) || text.startsWith("{{", from) ? ",." : PUNCTUATION;
  while (end > from && punctuation.includes(text[end - 1] as string)) end -= 1;
  if (end > from && text[end - 1] === "]" && !text.startsWith("[redacted]", end - 10)) end -= 1;
  return end;
}

// Whole, with an identifier's digest, or cut off by a limit.
const ALREADY = /^\[redacted\](?:-[0-9a-f]{8})?$|^\[(?:r(?:e(?:d(?:a(?:c(?:t(?:ed?)?)?)?)?)?)?)?$/;
const REFERENCE = /^(?:\$[A-Z_][A-Z0-9_]*|\$?\{\{?[\w .:-]*\}?\}|%[A-Z0-9_]+%|<[\w .-]*>|\*+|x{3,}|\.{3})$/i;
const NOTHING =
  /^(?:null|undefined|none|nil|true|false|yes|no|empty|unset|missing|required|optional|expired|invalid|revoked|valid|string|str|text|number|int|integer|bool|boolean|bytes|object|any|unknown)$/i;
const DECIMAL = /^\d[\d,._]*[kKmM]?$/;

/** Whether what was assigned is no secret: replaced already, a reference to one, a word for nothing, or a type. */
export function isHarmlessValue(value: string, verdict: NameVerdict): boolean {
  if (ALREADY.test(value) || NOTHING.test(value) || REFERENCE.test(value)) return true;
  return verdict === "countable" && DECIMAL.test(value);
}
