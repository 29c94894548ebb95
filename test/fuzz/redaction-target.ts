import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { createJsonlReader, normalizeEvent, normalizeSnapshot, redactText } from "@agent-lifecycle/proto";
import type { SeededRandom } from "../kit/seeded-random.ts";
import { CANDIDATES } from "./events.ts";
import { filler } from "./mutations.ts";
import { expectThat, type FuzzTarget, one, pureTarget } from "./target.ts";

interface SecretSample {
  readonly in: { readonly text?: string };
  readonly mustNotContain?: readonly string[];
}

interface Secret {
  readonly text: string;
  readonly mustNotContain: readonly string[];
}

const SECRETS: readonly Secret[] = (
  JSON.parse(readFileSync(new URL("../contract/redaction/corpus.json", import.meta.url), "utf8")) as {
    readonly secret: readonly SecretSample[];
  }
).secret.flatMap(({ in: { text }, mustNotContain = [] }) => (text === undefined ? [] : [{ text, mustNotContain }]));

type Writing = (text: string) => string;

const inJson: Writing = (text) => JSON.stringify({ output: text });
const coloured: Writing = (text) => `\u001b[31m${text}\u001b[0m`;
/** Word by word, as a search marks what it has found. Nobody colours the sequences of colours. */
const highlighted: Writing = (text) =>
  text.includes("\u001b") || text.includes("u001b")
    ? coloured(text)
    : text.replaceAll(/\w+/g, (word) => `\u001b[1;38;5;46m\u001b[K${word}\u001b[m`);
/** Ways in which text comes to stand inside of other text. */
const WRITINGS: readonly Writing[] = [
  (text) => text,
  (text) => text.replaceAll("\n", "\r\n"),
  (text) => `> ${text.replaceAll("\n", "\n> ")}`,
  (text) => `+${text.replaceAll("\n", "\n+")}`,
  (text) => `\t12\t${text}`,
  coloured,
  highlighted,
  inJson,
  (text) => inJson(`\t${text}\n`),
  (text) => inJson(coloured(text)),
  (text) => inJson(inJson(text)),
  (text) => inJson(inJson(`\n${inJson(text)}`)),
  (text) => inspect({ output: `\n${text}` }),
];
const EDGES: readonly (readonly [string, string])[] = [
  ["\n", "\n"],
  [" ", " "],
  ["(", ")"],
  ["`", "`"],
  ["\u{1f511} ", " …"],
  ["", ""],
];

function embedded(random: SeededRandom, text: string): string {
  const [before, after] = one(random, EDGES);
  const [lead, tail] = before === "" ? ["", ""] : [filler(random, 20), filler(random, 20)];
  return `${lead}${before}${one(random, WRITINGS)(text)}${after}${tail}`;
}

/** A secret is one wherever it stands, and however what it stands in is written. */
function judgeText(random: SeededRandom): void {
  const { text: secret, mustNotContain } = one(random, SECRETS);
  const text = embedded(random, secret);
  const redacted = redactText(text);
  for (const part of mustNotContain) expectThat(!redacted.includes(part), `a secret survived: ${text}`);
  expectThat(redactText(redacted) === redacted, `redacting twice changes it: ${redacted}`);
  expectThat(redacted.length <= 4 * text.length + 64, "redacting makes the text long");
}

/** Whatever comes of evidence with a secret somewhere in it, what is kept or said of it does not hold the secret. */
function judgePlaces(random: SeededRandom): void {
  const { text: secret, mustNotContain } = one(random, SECRETS);
  const text = embedded(random, secret);
  const candidate = withText(random, one(random, CANDIDATES), text);
  const [item] = createJsonlReader().push(Buffer.from(`{${text.replaceAll(/[\r\n]/g, " ")}\n`));
  for (const said of [
    normalizeEvent(candidate),
    normalizeSnapshot({ ...(candidate as object), children: [candidate], coverage: [text] }),
    item?.ok === false ? item : undefined,
  ]) {
    // A diagnostic quotes beginnings: of a secret, none is short enough to be quoted and long enough to be one.
    const kept = JSON.stringify(said) ?? "";
    for (const part of mustNotContain) expectThat(!kept.includes(part), `a secret survived: ${kept}`);
  }
}

/** Puts a text in place of one member or more, or beside them. */
function withText(random: SeededRandom, value: unknown, text: string): unknown {
  if (random.below(6) === 0) return random.below(3) === 0 ? { note: [text] } : text;
  if (Array.isArray(value)) return value.map((item: unknown) => withText(random, item, text));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]): [string, unknown] => [
    random.below(30) === 0 ? text : name,
    withText(random, member, text),
  ]);
  return Object.fromEntries(
    random.below(4) === 0 ? [...members, ["details", { [text]: text, list: [text] }]] : members,
  );
}

export const REDACTION_TARGETS: readonly FuzzTarget[] = [
  pureTarget("redaction", 8, judgeText),
  pureTarget("secret-places", 6, judgePlaces),
];
