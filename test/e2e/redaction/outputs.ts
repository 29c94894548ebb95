import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ChildrenPage, DiagnosticsPage } from "@agent-lifecycle/proto";

/** Everything that API, metrics, health and board say to one who may read. */
export async function everyAnswer(apiUrl: string, readToken: string): Promise<string> {
  const answers: string[] = [];
  const read = async (path: string): Promise<string> => {
    const response = await fetch(new URL(path, apiUrl), { headers: { authorization: `Bearer ${readToken}` } });
    const text = await response.text();
    if (!response.ok && response.status !== 404) throw new Error(`${path} answered ${response.status}: ${text}`);
    answers.push(JSON.stringify([...response.headers]), text);
    return text;
  };
  const board = await read("/");
  for (const [, path] of board.matchAll(/(?:href|src)="(\/[^"]+)"/g)) await read(String(path));
  for (const path of ["/healthz", "/readyz", "/metrics", "/api/v1/summary", "/api/v1/sources"]) await read(path);
  await read("/api/v1/audit?limit=1000");
  for (let cursor: string | null = "999999999"; cursor !== null; ) {
    const page = JSON.parse(await read(`/api/v1/diagnostics?limit=1000&cursor=${cursor}`)) as DiagnosticsPage;
    cursor = page.nextCursor;
  }
  for (let cursor: string | null = "999999999"; cursor !== null; ) {
    const page = JSON.parse(await read(`/api/v1/children?limit=1000&cursor=${cursor}`)) as ChildrenPage;
    for (const { source, childId } of page.children) {
      const child = `/api/v1/children/${encodeURIComponent(source)}/${encodeURIComponent(childId)}`;
      for (const path of [child, `${child}/events`, `${child}/audit`]) await read(path);
    }
    cursor = page.nextCursor;
  }
  return answers.join("\n");
}

/** The bytes of every file in a folder: database, write-ahead log, locks, copies. */
export function filesOf(folder: string): string {
  if (!existsSync(folder)) throw new Error(`there is no folder ${folder}`);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((file) => readFileSync(join(file.parentPath, file.name), "latin1")).join("\n");
}
