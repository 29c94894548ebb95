import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseDocument,
  type YAMLError,
} from "yaml";
import { type Environment, plainScalar, substitute } from "./environment.ts";
import { type ConfigurationPath, type ConfigurationProblem, formatPath } from "./problem.ts";

export type Position = NonNullable<ConfigurationProblem["position"]>;

/** A YAML file as plain values, and where each of them stands. */
export interface YamlTree {
  /** Mappings are objects without a prototype. */
  readonly value: unknown;
  readonly problems: readonly ConfigurationProblem[];
  /** Where a value stands in the text, or else the nearest one that it would stand in. */
  positionOf(path: ConfigurationPath): Position | undefined;
  /** Whether something of this value came from the environment. */
  isFromEnvironment(path: ConfigurationPath): boolean;
}

const MAX_TEXT_CHARACTERS = 256 * 1024;
const MAX_DEPTH = 16;
/** Counted at every place where an alias repeats them. */
const MAX_NODES = 20_000;
const MAX_PROBLEMS = 100;

/** Reads YAML 1.2 and replaces what refers to the environment, in values and nowhere else. Never throws. */
export function readYamlTree(text: string, environment: Environment): YamlTree {
  if (text.length > MAX_TEXT_CHARACTERS) return refused(`the file has more than ${MAX_TEXT_CHARACTERS} characters`);
  const lines = new LineCounter();
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, schema: "core", version: "1.2" });
    return new TreeReader(document, lines, environment).read();
  } catch (error) {
    // The parser goes down with each level of the text.
    if (error instanceof RangeError) return refused("the file is nested too deeply");
    throw error;
  }
}

function refused(text: string): YamlTree {
  const problems = [{ path: [], text }];
  return { value: undefined, problems, positionOf: () => undefined, isFromEnvironment: () => false };
}

class TreeReader {
  readonly #document: Document.Parsed;
  readonly #lines: LineCounter;
  readonly #environment: Environment;
  readonly #positions = new Map<string, Position>();
  readonly #fromEnvironment = new Set<string>();
  readonly #problems: ConfigurationProblem[] = [];
  #nodes = 0;

  constructor(document: Document.Parsed, lines: LineCounter, environment: Environment) {
    this.#document = document;
    this.#lines = lines;
    this.#environment = environment;
  }

  read(): YamlTree {
    const { errors, warnings, contents } = this.#document;
    for (const fault of this.#firstOfEachLine([...errors, ...warnings])) this.#report([], textOf(fault), fault.pos[0]);
    const value = errors.length > 0 ? undefined : this.#valueOf(contents, [], 0);
    if (this.#nodes > MAX_NODES)
      this.#report([], `there are more than ${MAX_NODES} values, counted with their repetitions`);
    return {
      value,
      problems: this.#problems,
      positionOf: (path) => this.#positionOf(path),
      isFromEnvironment: (path) => this.#fromEnvironment.has(formatPath(path)),
    };
  }

  #valueOf(node: ParsedNode | null, path: ConfigurationPath, depth: number): unknown {
    this.#nodes += 1;
    if (node === null || this.#nodes > MAX_NODES) return null;
    if (depth > MAX_DEPTH) {
      this.#report(path, `is nested more than ${MAX_DEPTH} levels deep`, node.range[0]);
      return null;
    }
    if (isAlias(node)) {
      const target = node.resolve(this.#document) as ParsedNode | undefined;
      if (target === undefined) this.#report(path, "the alias names no anchor before it", node.range[0]);
      return this.#valueOf(target ?? null, path, depth + 1);
    }
    if (isScalar(node)) return this.#scalarOf(node.value, node.type === "PLAIN", path, node.range[0]);
    if (isSeq(node)) {
      return node.items.map((item, index) => {
        const itemPath = [...path, index];
        this.#place(itemPath, (item as ParsedNode).range[0]);
        return this.#valueOf(item as ParsedNode, itemPath, depth + 1);
      });
    }
    if (!isMap(node)) return null;
    const members: Record<string, unknown> = Object.create(null);
    for (const { key, value } of node.items as readonly { key: ParsedNode; value: ParsedNode | null }[]) {
      if (!isScalar(key) || (typeof key.value !== "string" && typeof key.value !== "number")) {
        this.#report(path, "a member's name must be a text", key.range?.[0]);
        continue;
      }
      const name = String(key.value);
      const memberPath = [...path, name];
      this.#place(memberPath, key.range[0]);
      members[name] = this.#valueOf(value, memberPath, depth + 1);
    }
    return members;
  }

  #scalarOf(value: unknown, isPlain: boolean, path: ConfigurationPath, offset: number): unknown {
    if (typeof value !== "string" || !value.includes("$")) return value;
    const result = substitute(value, this.#environment);
    if (result.kind === "refused") {
      for (const text of result.problems) this.#report(path, text, offset);
      return undefined;
    }
    if (result.isFromEnvironment) this.#fromEnvironment.add(formatPath(path));
    return isPlain ? plainScalar(result.text) : result.text;
  }

  /** One wrong character makes many faults. */
  #firstOfEachLine(faults: readonly YAMLError[]): readonly YAMLError[] {
    const byLine = new Map<number, YAMLError>();
    for (const fault of faults.toReversed()) byLine.set(this.#lines.linePos(fault.pos[0]).line, fault);
    return [...byLine.values()].toReversed();
  }

  #place(path: ConfigurationPath, offset: number): void {
    const { line, col } = this.#lines.linePos(offset);
    this.#positions.set(formatPath(path), { line, column: col });
  }

  #positionOf(path: ConfigurationPath): Position | undefined {
    for (let length = path.length; length > 0; length -= 1) {
      const position = this.#positions.get(formatPath(path.slice(0, length)));
      if (position !== undefined) return position;
    }
    return undefined;
  }

  #report(path: ConfigurationPath, text: string, offset?: number): void {
    if (this.#problems.length >= MAX_PROBLEMS) return;
    const place = offset === undefined ? undefined : this.#lines.linePos(offset);
    const position = place === undefined || place.line === 0 ? undefined : { line: place.line, column: place.col };
    this.#problems.push({ path, text, ...(position === undefined ? undefined : { position }) });
  }
}

/** In our words: the parser's own quote the text, which may be a secret. */
const TEXTS: Readonly<Partial<Record<YAMLError["code"], string>>> = {
  DUPLICATE_KEY: "this member is there twice",
  MULTIPLE_DOCS: "the file must hold one document",
  TAB_AS_INDENT: "indentation must be by spaces",
  BAD_INDENT: "the indentation does not fit",
  UNEXPECTED_TOKEN: `is no YAML here; a reference such as \${env:NAME} needs quotes inside brackets and braces`,
  BAD_ALIAS: "the alias names no anchor before it",
  TAG_RESOLVE_FAILED: "tags are not known here",
  MISSING_CHAR: "a character is missing here, such as a quote, a bracket, or a space after a colon",
};

function textOf({ code }: YAMLError): string {
  return TEXTS[code] ?? `is no YAML: ${code.toLowerCase().replaceAll("_", " ")}`;
}
