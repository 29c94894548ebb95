import { existsSync, statSync } from "node:fs";
import { mkdtemp, open, rm, statfs } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { errorCodeOf, type Finding, ok, problem, sentenceOf, warning } from "./finding.ts";

const MEBIBYTE = 1024 * 1024;
/** Below it a burst of events fills the disk before anybody looks. */
const LITTLE_SPACE_BYTES = 1024 * MEBIBYTE;
/** Below it not even the write-ahead log of a busy collector fits. */
const NO_SPACE_BYTES = 64 * MEBIBYTE;
const OTHERS = 0o077;

/** The folder of the database: whether it is there or can be made, can be written, has room, and is nobody else's to read. */
export async function checkStorage(database: string): Promise<readonly Finding[]> {
  const folder = dirname(resolve(database));
  const there = nearestFolder(folder);
  if (!statSync(there).isDirectory()) {
    return [problem("storage", `${there} is no folder`, "choose another place with storage.path, or --database")];
  }
  const written = await tryWriting(there);
  if (written !== undefined) return [written];
  const place = there === folder ? `${folder} can be written` : `${folder} is not there yet and can be made`;
  return [ok("storage", place), await checkSpace(there), ...checkModes(resolve(database))];
}

/** The folder itself, or what of it is there. */
function nearestFolder(folder: string): string {
  let there = folder;
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
  return there;
}

/** Only a write tells: a full, read-only or forbidden disk each say it then. */
async function tryWriting(folder: string): Promise<Finding | undefined> {
  let made: string | undefined;
  try {
    made = await mkdtemp(join(folder, ".agent-lifecycle-doctor-"));
    const file = await open(join(made, "probe"), "wx", 0o600);
    try {
      await file.writeFile(Buffer.alloc(8_192));
      await file.sync();
    } finally {
      await file.close();
    }
    return undefined;
  } catch (error) {
    return problem("storage", `${folder} cannot be written: ${sentenceOf(error)}`, adviceFor(errorCodeOf(error)));
  } finally {
    if (made !== undefined) await rm(made, { recursive: true, force: true }).catch(() => {});
  }
}

function adviceFor(code: string | undefined): string {
  if (code === "ENOSPC" || code === "EDQUOT") return "make room, or set storage.retention";
  if (code === "EROFS") return "mount it for writing, or choose another place with storage.path";
  return "give the user of the collector the right to write there, or choose another place with storage.path";
}

async function checkSpace(folder: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(folder);
  const freeBytes = bavail * bsize;
  const text = `${Math.floor(freeBytes / MEBIBYTE)} MiB free at ${folder}`;
  const advice = "make room, or set storage.retention; a full disk refuses new events until there is some";
  if (freeBytes < NO_SPACE_BYTES) return problem("disk", text, advice);
  return freeBytes < LITTLE_SPACE_BYTES ? warning("disk", text, advice) : ok("disk", text);
}

function checkModes(database: string): readonly Finding[] {
  if (process.platform === "win32") return [];
  const files = [database, `${database}-wal`].filter((path) => existsSync(path));
  const open = files.filter((path) => (statSync(path).mode & OTHERS) !== 0);
  if (files.length === 0) return [];
  if (open.length === 0) return [ok("storage", "nobody but its owner can read the database")];
  const text = `others than the owner may read ${open.join(" and ")}`;
  return [warning("storage", text, `chmod 600 ${open.join(" ")}: it tells what everybody works on`)];
}
