import { MAX_IDENTIFIER_LENGTH } from "./limits.ts";
import { mayAssign, redactAssignments } from "./secret-assignments.ts";
import { SHAPE_RULES } from "./secret-shapes.ts";
import { signalsIn } from "./secret-signals.ts";
import { cutText } from "./text.ts";
import { maskEscapes, unmaskEscapes, withoutColours } from "./text-in-text.ts";

/** What stands in place of a secret (N3). */
export const REDACTED = "[redacted]";

/** Each round hides at least one more thing; honest text is done after one. */
const MAX_ROUNDS = 8;

/**
 * Replaces every secret that shows by its shape or by the name it is assigned to (N3), also in text that was escaped or
 * coloured. Linear in the text. Applying it to its own result changes nothing; harmless text is returned as the same
 * string. Where a secret was coloured, the whole text loses its colours: they may run right through it.
 */
export function redactText(text: string): string {
  if (text.length < SHORTEST_SECRET) return text;
  // What was taken out may bring together what was not: half a colour and the letter behind another one, for example.
  let redacted = text;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = redacted;
    redacted = redactOnce(before);
    if (redacted === before) break;
  }
  return redacted;
}

function redactOnce(text: string): string {
  const plain = withoutColours(text);
  if (plain !== text) {
    const redacted = redactEscaped(plain);
    if (redacted !== plain) return redacted;
  }
  return redactEscaped(text);
}

/** Looked at twice where there are escapes: `\token` may be a tab before `oken`, or a token behind a backslash. */
function redactEscaped(text: string): string {
  const signals = signalsIn(text);
  if (!mayHoldSecret(signals)) return text;
  const redacted = redactPlain(text, signals);
  const masked = maskEscapes(redacted);
  return masked === undefined ? redacted : unmaskEscapes(redactPlain(masked, signalsIn(masked)));
}

// Masks belong to no signal: a text has no more of them when it is masked.
function mayHoldSecret(signals: number): boolean {
  return mayAssign(signals) || SHAPE_RULES.some((rule) => (signals & rule.signals) === rule.signals);
}

function redactPlain(text: string, signals: number): string {
  let redacted = text;
  for (const rule of SHAPE_RULES) {
    if ((signals & rule.signals) === rule.signals) redacted = redacted.replace(rule.pattern, rule.replacement);
  }
  return mayAssign(signals) ? redactAssignments(redacted) : redacted;
}

/**
 * Redacts, then cuts to `length` UTF-16 code units: a secret cut in half is still half a secret, and no longer looks
 * like one. The cut can make a word of the rest look like a value, so what remains is looked at again.
 */
export function redactAndCut(text: string, length: number): string {
  let cut = cutText(redactText(text), length);
  if (cut.length < length - 1) return cut;
  for (let round = 0; round < 4; round += 1) {
    const again = cutText(redactText(cut), length);
    if (again === cut) break;
    cut = again;
  }
  return cut;
}

/** `otp=1`: nothing shorter can both name a secret and hold one. */
const SHORTEST_SECRET = 5;

/**
 * As `redactText`, and two identifiers that held different secrets stay different: a digest of the whole original
 * follows. The result keeps within `MAX_IDENTIFIER_LENGTH`; a harmless identifier is returned as it is.
 */
export function redactIdentifier(id: string): string {
  const redacted = redactText(id);
  if (redacted === id) return id;
  const digest = digestOf(id).toString(16).padStart(8, "0");
  const distinct = `${cutText(redacted, MAX_IDENTIFIER_LENGTH - digest.length - 1)}-${digest}`;
  // Where the digest would read on as part of a value, nothing but the digest is kept.
  return redactText(distinct) === distinct ? distinct : `${REDACTED}-${digest}`;
}

/** FNV-1a over UTF-16 code units: it tells apart, it hides nothing by itself. */
function digestOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
