import type { SeededRandom } from "../kit/seeded-random.ts";

/** Numbers and texts at which decoders err. */
const EDGES: readonly unknown[] = [
  null,
  true,
  0,
  -0,
  -1,
  1.5,
  2 ** 53,
  -(2 ** 63),
  1e21,
  1e308,
  "",
  " ",
  "0",
  "9223372036854775807",
  "NaN",
  "\u0000",
  "\ud800",
  "é".normalize("NFD"),
  "a".repeat(300),
  "2026-02-30T00:00:00Z",
  "2026-09-01T09:00:00+02:00",
  [],
  {},
  [[[[[[[[[[]]]]]]]]]],
  "__proto__",
  "constructor",
];

/** Names that a prototype has, or that mean something elsewhere. */
const NAMES = ["__proto__", "constructor", "prototype", "toString", "details", "lineage", "state", "sequence", "", "é"];

/** Bytes that differ from valid ones in a few places: they get further into a decoder than noise does. */
export function mutatedBytes(random: SeededRandom, original: Buffer): Buffer {
  let bytes: Buffer = Buffer.from(original);
  for (let mutation = random.below(3); mutation >= 0; mutation -= 1) {
    const at = random.below(bytes.length + 1);
    const start = bytes.subarray(0, at);
    const rest = bytes.subarray(at + random.below(12));
    bytes = random.pick<() => Buffer>([
      () => flipped(random, bytes),
      () => flipped(random, bytes),
      () => Buffer.from(start),
      () => Buffer.concat([start, rest]),
      () => Buffer.concat([start, noise(random, 8), rest]),
      () => Buffer.concat([start, original.subarray(random.below(original.length)), rest]),
      // A length, or a number, that is far too large.
      () => Buffer.concat([start, Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f]), rest]),
    ])();
    if (bytes.length > 8 * original.length + 64) bytes = bytes.subarray(0, original.length);
  }
  return bytes;
}

export function noise(random: SeededRandom, maxLength: number): Buffer {
  return Buffer.from(Array.from({ length: random.below(maxLength + 1) }, () => random.below(256)));
}

function flipped(random: SeededRandom, original: Buffer): Buffer {
  if (original.length === 0) return original;
  const bytes = Buffer.from(original);
  const at = random.below(bytes.length);
  bytes[at] = random.below(3) === 0 ? random.below(256) : (bytes[at] ?? 0) ^ (1 << random.below(8));
  return bytes;
}

/**
 * How rare changes are in one input: in some everything is broken, in most little is. Where much is broken, a decoder
 * refuses the first of it, and what it would have made of the rest is never seen.
 */
export function rarityOf(random: SeededRandom): number {
  return 2 ** random.below(7);
}

/** A value in which some members are others, twice, missing, or deeper than expected. The original is left as it is. */
export function mutatedValue(random: SeededRandom, original: unknown): unknown {
  return mutate(random, original, rarityOf(random), 0);
}

function mutate(random: SeededRandom, original: unknown, rarity: number, depth: number): unknown {
  const happens = (outOf: number): boolean => random.below(outOf * rarity) === 0;
  if (happens(12)) return EDGES[random.below(EDGES.length)];
  if (depth > 0 && happens(40)) return deeply(random, original);
  if (Array.isArray(original)) {
    const mutated = original.map((item: unknown) => mutate(random, item, rarity, depth + 1));
    return happens(8) ? [...mutated, ...mutated] : mutated;
  }
  if (typeof original !== "object" || original === null) return original;
  // Built by entries: a member named __proto__ is to be one.
  const entries = Object.entries(original).flatMap(([name, value]): [string, unknown][] => {
    if (happens(14)) return [];
    const key = happens(24) ? (NAMES[random.below(NAMES.length)] ?? name) : name;
    return [[key, mutate(random, value, rarity, depth + 1)]];
  });
  if (happens(10)) entries.push([NAMES[random.below(NAMES.length)] ?? "x", EDGES[random.below(EDGES.length)]]);
  return Object.fromEntries(entries);
}

function deeply(random: SeededRandom, value: unknown): unknown {
  let nested = value;
  for (let level = random.below(40); level > 0; level -= 1) nested = random.below(2) === 0 ? [nested] : { nested };
  return nested;
}

/** Text of letters, marks and line ends, in which what stands between them does not run together. */
export function filler(random: SeededRandom, words: number): string {
  const pieces = ["reads", "the file", "\n", "—", "日本", "→", "x=1", "{", "}", '"', "'", "\t", "done.", "é"];
  return Array.from({ length: random.below(words + 1) }, () => pieces[random.below(pieces.length)]).join(" ");
}

const TOKENS = [
  "{",
  "}",
  "[",
  "]",
  ":",
  ",",
  "null",
  "-0",
  "1e999",
  '"\\ud800"',
  '"__proto__"',
  '{"a":1,"a":2}',
  "[[[[",
  " ",
  "\ufeff",
];

/** Tokens that stand for one another: whatever is changed for another of them, the text stays JSON. */
const LITERALS = [
  "null",
  "true",
  "-0",
  "1e308",
  "0.1",
  "18446744073709551616",
  '""',
  '"\\ud800"',
  '"\\u0000"',
  "[]",
  "{}",
];
const KEYS = ['"__proto__"', '"constructor"', '"key"', '"value"', '"intValue"', '"kvlistValue"', '"string_value"'];

/**
 * JSON text in which tokens are others, twice or missing. Half of the time a member's name or a value is another one:
 * then it is JSON still.
 */
export function mutatedTokens(random: SeededRandom, text: string): string {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[-+.\w]+|./gs) ?? [];
  if (random.below(2) === 0) {
    for (let mutation = random.below(4); mutation >= 0; mutation -= 1) {
      const at = anyOf(random, tokens, /^["\w+.-]/);
      const isKey = tokens[at + 1] === ":";
      tokens[at] = isKey ? (KEYS[random.below(KEYS.length)] ?? "") : (LITERALS[random.below(LITERALS.length)] ?? "");
    }
    return tokens.join("");
  }
  for (let mutation = random.below(3); mutation >= 0; mutation -= 1) {
    const at = random.below(tokens.length);
    const from = random.below(tokens.length);
    random.pick<() => unknown>([
      () => tokens.splice(at, 1),
      () => tokens.splice(at, 1, TOKENS[random.below(TOKENS.length)] ?? ""),
      () => tokens.splice(at, 0, TOKENS[random.below(TOKENS.length)] ?? ""),
      () => tokens.splice(at, 1, tokens[from] ?? ""),
      () => tokens.splice(at, 0, ...tokens.slice(from, from + random.below(12))),
    ])();
  }
  return tokens.join("");
}

/** Where a token of this kind stands; the first one if chance does not find any. */
function anyOf(random: SeededRandom, tokens: readonly string[], kind: RegExp): number {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const at = random.below(tokens.length);
    if (kind.test(tokens[at] ?? "")) return at;
  }
  return Math.max(
    0,
    tokens.findIndex((token) => kind.test(token)),
  );
}
