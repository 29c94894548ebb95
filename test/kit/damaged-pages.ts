import { readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

const DAMAGED_BYTES = 64;

/**
 * Overwrites the beginning of pages of a table or index in the file of a database that nobody has open.
 * @param kept how many of its last pages stay whole; without it, all are damaged
 * @throws Error when there is no such page.
 */
export function damagePagesOf(path: string, name: string, kept = 0): void {
  const database = new DatabaseSync(path, { readOnly: true });
  const pageBytes = Number(database.prepare("PRAGMA page_size").get()?.["page_size"]);
  const pages = database
    .prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path")
    .all(name)
    .map((row) => Number(row["pageno"]));
  database.close();
  const damaged = pages.slice(0, pages.length - kept);
  if (damaged.length === 0) throw new Error(`${name} has ${pages.length} pages`);
  const content = readFileSync(path);
  // The first page begins with what the file is: damage begins after that.
  for (const page of damaged) {
    const start = page === 1 ? 100 : (page - 1) * pageBytes;
    content.fill(0xa5, start, start + DAMAGED_BYTES);
  }
  writeFileSync(path, content);
}
