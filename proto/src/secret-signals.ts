/**
 * A first look at a text that costs about a nanosecond per character: which neighbouring characters occur in it.
 * Every shape of secret needs certain pairs; a rule whose pairs are missing cannot match and is not tried.
 */

const CLASS_COUNT = 64;

/** Characters in at most 64 classes: letters without their case, digits, the marks that shapes need, and the rest. */
const CLASS_OF = new Uint8Array(128);
const MARKS = " \t\n-_.:=/\"'\\|%@";

function buildClasses(): void {
  for (let letter = 0; letter < 26; letter += 1) {
    CLASS_OF[0x41 + letter] = letter + 1;
    CLASS_OF[0x61 + letter] = letter + 1;
  }
  for (let digit = 0; digit < 10; digit += 1) CLASS_OF[0x30 + digit] = 27 + digit;
  for (const [index, mark] of [...MARKS].entries()) CLASS_OF[mark.charCodeAt(0)] = 37 + index;
}
buildClasses();

function classOf(unit: number): number {
  return unit < 128 ? (CLASS_OF[unit] as number) : 0;
}

const PAIRS = new Int32Array(CLASS_COUNT * CLASS_COUNT);
let bitsTaken = 0;

/**
 * Registers pairs of characters under one bit and returns the bit. Letters match in either case; `*` in front stands
 * for any character. At most 31 bits.
 */
export function signalOf(...pairs: readonly string[]): number {
  if (bitsTaken >= 31) throw new RangeError("no signal bit is left");
  const bit = 1 << bitsTaken;
  bitsTaken += 1;
  for (const pair of pairs) {
    const second = classOf(pair.charCodeAt(1));
    if (pair.startsWith("*")) {
      for (let first = 0; first < CLASS_COUNT; first += 1) addPair(first, second, bit);
    } else addPair(classOf(pair.charCodeAt(0)), second, bit);
  }
  return bit;
}

function addPair(first: number, second: number, bit: number): void {
  const index = first * CLASS_COUNT + second;
  PAIRS[index] = (PAIRS[index] as number) | bit;
}

/** The signals that occur in a text, as bits. */
export function signalsIn(text: string): number {
  let signals = 0;
  let previous = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    const current = unit < 128 ? (CLASS_OF[unit] as number) : 0;
    signals |= PAIRS[previous * CLASS_COUNT + current] as number;
    previous = current;
  }
  return signals;
}
