import {
  cutText,
  isJsonObject,
  MAX_ACTIVITY_LENGTH,
  MAX_IDENTIFIER_LENGTH,
  redactIdentifier,
  redactText,
} from "@agent-lifecycle/proto";

/** Redaction reads the whole text: longer ones are cut first, far beyond what is kept. */
const MAX_TEXT_READ = 16_384;
const LONGEST_LAST_WORD = 2_048;

/** An identifier as the contract wants it (trimmed, 1–256 characters, redacted), or `undefined`. */
export function identifierFrom(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const trimmed = value.trim();
  return trimmed.length === 0 || trimmed.length > MAX_IDENTIFIER_LENGTH ? undefined : redactIdentifier(trimmed);
}

/** Redacted text of at most `length` UTF-16 units. */
export function boundedText(text: string, length: number = MAX_ACTIVITY_LENGTH): string {
  return cutText(redactText(text.length <= MAX_TEXT_READ ? text : withoutHalfWord(text)), length);
}

/** A secret cut in half no longer looks like one: the cut goes back to the last white space. */
function withoutHalfWord(text: string): string {
  const cut = cutText(text, MAX_TEXT_READ);
  const lastWord = cut.slice(-LONGEST_LAST_WORD).search(/\s\S*$/);
  return lastWord < 0 ? cut.slice(0, -LONGEST_LAST_WORD) : cut.slice(0, cut.length - LONGEST_LAST_WORD + lastWord);
}

/** Whether a host's argument can be read as an object of members. */
export function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return isJsonObject(value);
}
