import { SLOT_NAMES } from "./otlp-candidate.ts";
import type { WireCursor } from "./otlp-wire.ts";

/** One attribute name as bytes, in the units in which it is compared. */
interface KnownKey {
  readonly slot: number;
  readonly words: Int32Array;
  readonly tail: readonly number[];
}

// Names are told apart by their length first: no more than a few share one.
const BY_LENGTH: readonly (readonly KnownKey[] | undefined)[] = indexByLength();

function indexByLength(): (KnownKey[] | undefined)[] {
  const index: (KnownKey[] | undefined)[] = [];
  for (const [slot, name] of SLOT_NAMES.entries()) {
    const bytes = Uint8Array.from(name, (character) => character.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    const words = new Int32Array(bytes.length >> 2);
    for (let word = 0; word < words.length; word += 1) words[word] = view.getInt32(word * 4, true);
    const known = { slot, words, tail: [...bytes.subarray(words.length * 4)] };
    index[name.length] = [...(index[name.length] ?? []), known];
  }
  return index;
}

/** The slot of the attribute whose key lies at these bytes, or -1 when it is none of ours. */
export function slotOfKey(cursor: WireCursor, start: number, length: number): number {
  const candidates = BY_LENGTH[length];
  if (candidates === undefined) return -1;
  for (let index = 0; index < candidates.length; index += 1) {
    const known = candidates[index] as KnownKey;
    if (isKey(cursor, start, known)) return known.slot;
  }
  return -1;
}

/** Compares from the end: all names begin alike. */
function isKey(cursor: WireCursor, start: number, known: KnownKey): boolean {
  const { words, tail } = known;
  const tailStart = start + words.length * 4;
  for (let index = tail.length - 1; index >= 0; index -= 1) {
    if (cursor.bytes[tailStart + index] !== tail[index]) return false;
  }
  for (let index = words.length - 1; index >= 0; index -= 1) {
    if (cursor.view.getInt32(start + index * 4, true) !== words[index]) return false;
  }
  return true;
}
