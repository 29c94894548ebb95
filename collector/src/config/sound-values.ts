import { isPlain } from "./overlay.ts";
import type { ConfigurationPath } from "./problem.ts";

/**
 * A file's values without those that do not fit the schema, so that the rest can be judged as well. A list goes as a
 * whole; of a component its id is left, and a grant is kept as somebody who may do everything, lest their absence be
 * taken for another problem.
 */
export function withoutUnsound(value: unknown, unsound: readonly ConfigurationPath[]): unknown {
  return unsound.reduce<unknown>(
    (current, path) => (isGrantPath(path) ? current : without(current, path)),
    withStandIns(value, unsound),
  );
}

const COMPONENTS: ReadonlySet<string | number> = new Set(["receivers", "exporters", "snapshot_sources"]);

function without(value: unknown, [key, ...rest]: ConfigurationPath, isComponent = false): unknown {
  if (key === undefined || typeof key === "number") return undefined;
  if (!isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      if (name !== key) return [[name, member]];
      const kept = rest.length === 0 ? undefined : without(member, rest, COMPONENTS.has(key));
      if (kept !== undefined) return [[name, kept]];
      return isComponent ? [[name, null]] : [];
    }),
  );
}

function isGrantPath(path: ConfigurationPath): boolean {
  return path[0] === "access" && (path[1] === "tokens" || path[1] === "certificates") && typeof path[2] === "number";
}

function withStandIns(value: unknown, unsound: readonly ConfigurationPath[]): unknown {
  const broken = unsound.filter(isGrantPath);
  if (broken.length === 0 || !isPlain(value) || !isPlain(value["access"])) return value;
  const access = { ...value["access"] };
  for (const [, list, index] of broken) {
    const grants = access[String(list)];
    if (!Array.isArray(grants) || typeof index !== "number") continue;
    access[String(list)] = grants.with(index, list === "tokens" ? tokenStandIn(index) : certificateStandIn(index));
  }
  return { ...value, access };
}

/** It guards nothing, as a configuration with problems is not used; it only must look like a good one. */
const STAND_IN = "abcdefghijklmnopqrstuvwxyz-0123456789-";

function tokenStandIn(index: number): object {
  return { name: `token ${index + 1}`, token: `${STAND_IN}${index}`, scopes: ["ingest", "read"] };
}

function certificateStandIn(index: number): object {
  return { name: `certificate ${index + 1}`, subject: `CN=${STAND_IN}${index}`, scopes: ["ingest", "read"] };
}
