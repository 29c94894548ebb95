import { type Finding, ok, problem } from "./finding.ts";

/** The oldest Node.js that the collector runs on. */
const OLDEST_MAJOR = 24;

/** @param version as in `process.versions.node` */
export function checkPlatform(version: string): readonly Finding[] {
  const major = Number(version.split(".", 1)[0]);
  if (major >= OLDEST_MAJOR) return [ok("node", `Node.js ${version}`)];
  return [problem("node", `Node.js ${version} is too old`, `use Node.js ${OLDEST_MAJOR} or newer`)];
}
