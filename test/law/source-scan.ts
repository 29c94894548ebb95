/** One import, re-export or dynamic import, types included. */
export interface ImportStatement {
  /** As written: `./state.ts`, `node:fs`, `@scope/name/sub`. */
  readonly specifier: string;
  readonly line: number;
  readonly isExportAll: boolean;
}

export interface ScannedSource {
  /** The text with comments blanked and the contents of strings and regular expressions taken out; same lines. */
  readonly code: string;
  readonly imports: readonly ImportStatement[];
}

/** Reads TypeScript or JavaScript far enough to tell code from comments and text. */
export function scanSource(text: string): ScannedSource {
  const { code, strings } = blankText(text);
  const imports: ImportStatement[] = [];
  for (const pattern of IMPORT_PATTERNS) {
    for (const match of code.matchAll(pattern)) {
      const specifier = strings[Number(match.groups?.["string"])];
      if (specifier === undefined) continue;
      const line = code.slice(0, match.index).split("\n").length;
      imports.push({ specifier, line, isExportAll: /^export\s*(?:type\s*)?\*/.test(match[0]) });
    }
  }
  return { code, imports: imports.toSorted((first, second) => first.line - second.line) };
}

// In the blanked code each string reads "§0§": its number, between the quotes.
const STRING = `"§(?<string>\\d+)§"`;
const IMPORT_PATTERNS: readonly RegExp[] = [
  new RegExp(`\\b(?:import|export)\\b[^;"()=]*?\\bfrom\\s*${STRING}`, "g"),
  new RegExp(`\\bimport\\s*${STRING}`, "g"),
  new RegExp(`\\b(?:import|require)\\s*\\(\\s*${STRING}`, "g"),
];

interface Blanked {
  readonly code: string;
  readonly strings: readonly string[];
}

function blankText(text: string): Blanked {
  const strings: string[] = [];
  let code = "";
  let index = 0;
  /** For each template that is open, how many braces its current expression has open. */
  const templates: number[] = [];

  const take = (length: number): string => {
    const taken = text.slice(index, index + length);
    index += length;
    return taken;
  };
  const blankTo = (end: number): void => {
    code += text.slice(index, end).replaceAll(/[^\n]/g, " ");
    index = end;
  };
  /** Template text up to its end or to its next expression. */
  const blankTemplateText = (): void => {
    const end = /(?<!\\)(?:\\\\)*(?:`|\$\{)/g;
    end.lastIndex = index;
    const match = end.exec(text);
    if (match === null) {
      blankTo(text.length);
      return;
    }
    const closes = match[0].endsWith("`");
    blankTo(end.lastIndex - (closes ? 1 : 2));
    code += take(closes ? 1 : 2);
    if (!closes) templates.push(0);
  };

  while (index < text.length) {
    const rest = text.slice(index, index + 2);
    const character = text.charAt(index);
    if (rest === "//") blankTo(endOf(text, "\n", index));
    else if (rest === "/*") blankTo(endOf(text, "*/", index + 2) + 2);
    else if (character === '"' || character === "'") {
      const match = /^(["'])((?:\\.|(?!\1)[^\\\n])*)\1?/.exec(text.slice(index));
      code += `"§${strings.length}§"`;
      strings.push(match?.[2] ?? "");
      index += match?.[0].length ?? 1;
    } else if (character === "`") {
      code += take(1);
      blankTemplateText();
    } else if (character === "/" && mayBeginRegularExpression(code)) {
      const match = /^\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/.exec(text.slice(index));
      if (match === null) code += take(1);
      else {
        code += "/§/";
        index += match[0].length;
      }
    } else {
      const open = templates.length - 1;
      if (character === "{" && open >= 0) templates[open] = (templates[open] ?? 0) + 1;
      if (character === "}" && open >= 0) {
        const depth = templates[open] ?? 0;
        if (depth === 0) {
          templates.pop();
          code += take(1);
          blankTemplateText();
          continue;
        }
        templates[open] = depth - 1;
      }
      code += take(1);
    }
  }
  return { code, strings };
}

function endOf(text: string, end: string, from: number): number {
  const found = text.indexOf(end, from);
  return found < 0 ? text.length : found;
}

/** After a value a slash divides; after anything else it begins a regular expression. */
function mayBeginRegularExpression(codeBefore: string): boolean {
  const before = codeBefore.trimEnd();
  if (/\b(?:return|typeof|case|in|of|void|throw|yield)$/.test(before)) return true;
  return !/[\w$)\]"`}]$/.test(before);
}
