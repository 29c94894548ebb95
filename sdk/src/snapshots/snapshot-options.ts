import { isMembers } from "../argument.ts";

/** What `serveSnapshots` takes. */
export interface SnapshotOptions {
  /**
   * Whoever asks must show it as a bearer token: 16 to 1,024 visible ASCII characters. Required with `port`; without
   * one the host may decide itself who reaches the handler.
   */
  readonly token?: string;
  /** Listens here, on `host`; 0 takes a free port. Default: no server, and the host's own calls the handler. */
  readonly port?: number;
  /** An address of this machine's loopback interface; default 127.0.0.1. For others put the handler behind TLS. */
  readonly host?: string;
  /** Path of the own server; default `/v1/lifecycle/snapshot`. */
  readonly path?: string;
  /**
   * `known` (default): an answer speaks of the children that this lifecycle knows, and of nobody else. `all`: nobody but
   * this lifecycle ever reports children of its source, so that whoever is not listed is not there. It is said for as
   * long as this lifecycle knows of every child that it ever had.
   */
  readonly coverage?: "known" | "all";
  /** Children that are kept at one time, ended ones among them. From 1 to 100,000; default 10,000. */
  readonly maxChildren?: number;
  /** Ended ones that are kept; the oldest are forgotten. From 0; default 1,000. */
  readonly maxEndedChildren?: number;
}

export interface ResolvedSnapshotOptions {
  readonly token: string | undefined;
  readonly listen: { readonly host: string; readonly port: number; readonly path: string } | undefined;
  readonly coverage: "known" | "all";
  readonly maxChildren: number;
  readonly maxEndedChildren: number;
}

/** A snapshot may list as many, and no more. */
const MAX_CHILDREN = 100_000;
const LOOPBACK = /^(?:localhost|::1|127(?:\.\d{1,3}){3})$/;
const TOKEN = /^[\x21-\x7e]{16,1024}$/;
const PATH = /^\/[\w\-./~]{0,1023}$/;

/**
 * Reads a host's options. One that cannot be used is told, and its default holds. What guards the answers has no
 * default: with a token that cannot be used nobody is answered.
 */
export function resolveSnapshotOptions(
  given: unknown,
  onProblem: (path: string, rule: string) => void,
): ResolvedSnapshotOptions | undefined {
  if (given !== undefined && !isMembers(given)) onProblem("options", "must be an object");
  const options: Readonly<Record<string, unknown>> = isMembers(given) ? given : {};
  const { token } = options;
  if (token !== undefined && !(typeof token === "string" && TOKEN.test(token))) {
    onProblem("token", "must be 16 to 1024 visible ASCII characters: nobody is answered");
    return undefined;
  }
  const { coverage } = options;
  if (coverage !== undefined && coverage !== "known" && coverage !== "all")
    onProblem("coverage", "must be known or all");
  const maxChildren = numberOption(options, "maxChildren", [1, MAX_CHILDREN], 10_000, onProblem);
  return {
    token,
    listen: listenOption(options, token, onProblem),
    coverage: coverage === "all" ? "all" : "known",
    maxChildren,
    maxEndedChildren: numberOption(
      options,
      "maxEndedChildren",
      [0, maxChildren],
      Math.min(1_000, maxChildren),
      onProblem,
    ),
  };
}

function listenOption(
  options: Readonly<Record<string, unknown>>,
  token: string | undefined,
  onProblem: (path: string, rule: string) => void,
): ResolvedSnapshotOptions["listen"] {
  const { port, host = "127.0.0.1", path = "/v1/lifecycle/snapshot" } = options;
  if (port === undefined) return undefined;
  const problems = [
    ...(isWholeNumber(port, 0, 65_535) ? [] : [["port", "must be a port"] as const]),
    ...(typeof host === "string" && LOOPBACK.test(host) ? [] : [["host", "must be an address of loopback"] as const]),
    ...(typeof path === "string" && PATH.test(path) ? [] : [["path", "must be a path of plain characters"] as const]),
    ...(token === undefined ? [["token", "is needed to listen"] as const] : []),
  ];
  for (const [name, rule] of problems) onProblem(name, `${rule}: nothing listens`);
  return problems.length > 0 ? undefined : { host: String(host), port: Number(port), path: String(path) };
}

function numberOption(
  options: Readonly<Record<string, unknown>>,
  name: string,
  [min, max]: readonly [number, number],
  byDefault: number,
  onProblem: (path: string, rule: string) => void,
): number {
  const value = options[name];
  if (value === undefined) return byDefault;
  if (isWholeNumber(value, min, max)) return value;
  onProblem(name, `must be a whole number from ${min} to ${max}`);
  return byDefault;
}

function isWholeNumber(value: unknown, min: number, max: number): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max;
}
