// Text that was written into other text: escapes of JSON and of programming languages, and colours of a terminal. What
// they leave in front of a word is a letter (`\npassword`, `ESC[31mpassword`), and the word no longer begins there.

const ESCAPE = "(?:\\u001b|\\\\{1,8}(?:u001b|x1b|0?33|e))";
const COLOUR_START = new RegExp(`${ESCAPE}\\[`, "i");
const COLOUR = new RegExp(`${ESCAPE}\\[[\\d;:?]{0,32}([A-Za-z])`, "gi");

/**
 * The text without the sequences by which a terminal colours it, or the same string when it has none. A sequence that
 * moves the cursor leaves a space: what stands on either side of it did not stand together.
 */
export function withoutColours(text: string): string {
  if (!text.includes("[") || !COLOUR_START.test(text)) return text;
  let plain = text;
  // A sequence within another one leaves one.
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const before = plain;
    plain = before.replace(COLOUR, (_sequence, command: string) => (command === "m" || command === "K" ? "" : " "));
    if (plain === before) break;
  }
  return plain;
}

const MAX_DEPTH = 8;

// Only in front of a word does it matter.
const ESCAPED = /\\(?:[nrtbfv]|u[0-9a-f]{4}|x[0-9a-f]{2})(?=\w)/gi;
// Of private use, so that no text means anything by them, and neither a letter nor a digit nor a space.
const FIRST_MASK = 0xf800;
const MASKS = /[\uf800-\uf87f]/;
const ALL_MASKS = /[\uf800-\uf87f]/g;

/**
 * The text with the last character of every escape in front of a word replaced by one that belongs to no word, or
 * `undefined` when there is nothing to replace. Its length stays the same.
 */
export function maskEscapes(text: string): string | undefined {
  if (!text.includes("\\") || MASKS.test(text)) return undefined;
  const masked = text.replace(
    ESCAPED,
    (sequence) => sequence.slice(0, -1) + String.fromCharCode(FIRST_MASK + sequence.charCodeAt(sequence.length - 1)),
  );
  return masked === text ? undefined : masked;
}

export function unmaskEscapes(text: string): string {
  return text.replace(ALL_MASKS, (mask) => String.fromCharCode(mask.charCodeAt(0) - FIRST_MASK));
}
