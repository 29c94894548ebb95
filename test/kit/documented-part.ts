import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * What a page of `docs/` holds between `<!-- marker -->` and `<!-- /marker -->`. With UPDATE_DOCUMENTS=1 in the
 * environment it is replaced by what the code says first.
 */
export function documentedPart(page: string, marker: string, said: string): string {
  const path = fileURLToPath(new URL(`../../docs/${page}`, import.meta.url));
  const [begin, end] = [`<!-- ${marker} -->`, `<!-- /${marker} -->`];
  const text = readFileSync(path, "utf8");
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
  if (from < begin.length || to < from) throw new Error(`docs/${page} has no part ${marker}`);
  if (process.env["UPDATE_DOCUMENTS"] === "1") {
    writeFileSync(path, `${text.slice(0, from)}\n\n${said}\n\n${text.slice(to)}`);
    return said;
  }
  return text.slice(from, to).trim();
}
