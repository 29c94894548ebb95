import { SLOT_NAMES } from "./otlp-candidate.ts";
import type { WireCursor } from "./otlp-wire.ts";

/**
 * One attribute name as bytes, eight at a time. They are compared as doubles: for ASCII no two differ and are equal,
 * and none is NaN. The last eight may overlap those before, which spares the odd bytes their own loop.
 */
interface KnownKey {
  readonly slot: number;
  readonly last: number;
  readonly others: Float64Array;
}

// Names are told apart by their length first: no more than a few share one.
const BY_LENGTH: readonly (readonly KnownKey[])[] = indexByLength();

function indexByLength(): KnownKey[][] {
  const longest = Math.max(...SLOT_NAMES.map((name) => name.length));
  const index: KnownKey[][] = Array.from({ length: longest + 1 }, () => []);
  for (const [slot, name] of SLOT_NAMES.entries()) {
    const view = new DataView(Uint8Array.from(name, (character) => character.charCodeAt(0)).buffer);
    const others = Float64Array.from({ length: (name.length - 1) >> 3 }, (_, word) => view.getFloat64(word * 8, true));
    index[name.length]?.push({ slot, last: view.getFloat64(name.length - 8, true), others });
  }
  return index;
}

/** The slot of the attribute whose key lies at these bytes, inside the input, or -1 when it is none of ours. */
export function slotOfKey(cursor: WireCursor, start: number, length: number): number {
  if (length >= BY_LENGTH.length) return -1;
  const candidates = BY_LENGTH[length] as readonly KnownKey[];
  if (candidates.length === 0) return -1;
  const { view } = cursor;
  const last = view.getFloat64(start + length - 8, true);
  for (let index = 0; index < candidates.length; index += 1) {
    const known = candidates[index] as KnownKey;
    if (known.last === last && beginsWith(view, start, known.others)) return known.slot;
  }
  return -1;
}

function beginsWith(view: DataView, start: number, words: Float64Array): boolean {
  for (let index = 0; index < words.length; index += 1) {
    if (view.getFloat64(start + index * 8, true) !== words[index]) return false;
  }
  return true;
}
