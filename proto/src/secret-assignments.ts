import { isWorkingDirectory, verdictOnName } from "./secret-names.ts";
import { signalOf } from "./secret-signals.ts";
import { findValueEnd, isHarmlessValue, type ValueSpan } from "./secret-values.ts";

const MARK = "[redacted]";
const LONGEST_NAME = 128;
/** A closing quote, escaped as often as texts are written into texts. */
const LONGEST_CLOSING = 40;

const SEPARATOR = signalOf("*:", "*=");
const DOUBLE_HYPHEN = signalOf("--");
// One pair out of each word that can make a name secret: password, pwd, token, cookie, secret, key, auth, jwt, otp, sig, ticket.
const NAME = signalOf("ss", "wd", "pw", "ok", "oo", "cr", "ey", "au", "jw", "tp", "be", "si", "ti");

/** Whether a text can contain an assignment to a secret name at all. */
export function mayAssign(signals: number): boolean {
  return (signals & NAME) !== 0 && (signals & (SEPARATOR | DOUBLE_HYPHEN)) !== 0;
}

/**
 * Replaces the values of assignments to secret names: `NAME_TOKEN=value`, `password: value`, `"apiKey": "value"`,
 * `--api-key value`, `Cookie: a=b; c=d`. One pass: a name is looked for backwards over at most 128 characters, and the
 * search goes on behind the value.
 */
export function redactAssignments(text: string): string {
  let result = "";
  let copied = 0;
  let position = 0;
  while (position < text.length) {
    const unit = text.charCodeAt(position);
    const span =
      unit === COLON || unit === EQUALS
        ? assignedValue(text, position, copied)
        : unit === HYPHEN && text.charCodeAt(position + 1) === HYPHEN && !isNameUnit(text.charCodeAt(position - 1))
          ? flagValue(text, position + 2)
          : undefined;
    if (span === undefined) {
      position += 1;
      continue;
    }
    result += `${text.slice(copied, span.start)}${MARK}`;
    copied = span.end;
    position = span.end;
  }
  return copied === 0 ? text : result + text.slice(copied);
}

const COLON = 0x3a;
const EQUALS = 0x3d;
const HYPHEN = 0x2d;

/** The secret value right of the separator at `position`, if the name left of it is secret and the value is one. */
function assignedValue(text: string, position: number, from: number): ValueSpan | undefined {
  const separator = text[position] as string;
  const next = text[position + 1];
  if (separator === ":" && (next === ":" || (next === "/" && text[position + 2] === "/"))) return undefined;
  // `==`, `=>`, `!=`, `<=`, `::` compare or point; `:=` assigns, and `=>` before a quoted text (Ruby, PHP, Perl).
  if (separator === "=" && next === "=") return undefined;
  const isArrow = separator === "=" && next === ">";
  if (isArrow && !QUOTED_NEXT.test(text.slice(position + 2, position + 2 + LONGEST_CLOSING))) return undefined;
  let valueStart = position + 1;
  if (isArrow || (separator === ":" && next === "=")) valueStart += 1;
  const name = nameBefore(text, position, from);
  if (name === undefined) return undefined;
  const query = separator === "=" && isOpeningParameter(text, position);
  const verdict = query ? "always" : verdictOnName(name);
  if (verdict === "never") return undefined;
  const span = findValueEnd(text, valueStart, separator, name);
  if (span === undefined) return undefined;
  const value = text.slice(span.start, span.end);
  if (isHarmlessValue(value, verdict) || isWorkingDirectory(name, value)) return undefined;
  return span;
}

const QUOTED_NEXT = /^ *\\*["']/;
const SPACE = 0x20;

/** The name that ends left of `position`, over spaces, a closing quote and a closing bracket. */
function nameBefore(text: string, position: number, from: number): string | undefined {
  let end = position;
  while (end > from && end > position - 4 && text.charCodeAt(end - 1) === SPACE) end -= 1;
  while (end > from && end > position - LONGEST_CLOSING && isClosing(text.charCodeAt(end - 1))) end -= 1;
  let start = end;
  while (start > from && start > end - LONGEST_NAME && isNameUnit(text.charCodeAt(start - 1))) start -= 1;
  return start === end ? undefined : text.slice(start, end);
}

function isClosing(unit: number): boolean {
  return unit === 0x22 || unit === 0x27 || unit === 0x60 || unit === 0x5c || unit === 0x5d;
}

/** Letters, digits, `_`, `-` and `.`. */
function isNameUnit(unit: number): boolean {
  return (
    (unit >= 0x61 && unit <= 0x7a) ||
    (unit >= 0x41 && unit <= 0x5a) ||
    (unit >= 0x30 && unit <= 0x39) ||
    unit === 0x5f ||
    unit === 0x2d ||
    unit === 0x2e
  );
}

/** `?sig=` and `&ticket=` open what they lead to without any other proof. */
function isOpeningParameter(text: string, position: number): boolean {
  return /[?&](?:sig|signature|ticket|x-amz-signature|x-goog-signature)$/i.test(
    text.slice(Math.max(0, position - 20), position),
  );
}

/** The value of a secret command line flag whose name begins at `start`: `--api-key value`. */
function flagValue(text: string, start: number): ValueSpan | undefined {
  let end = start;
  while (end < text.length && end < start + LONGEST_NAME && isNameUnit(text.charCodeAt(end))) end += 1;
  if (text.charCodeAt(end) !== SPACE) return undefined;
  const name = text.slice(start, end);
  const verdict = verdictOnName(name);
  if (verdict === "never") return undefined;
  const span = findValueEnd(text, end, "=", name);
  if (span === undefined || text.charCodeAt(span.start) === HYPHEN) return undefined;
  return isHarmlessValue(text.slice(span.start, span.end), verdict) ? undefined : span;
}
