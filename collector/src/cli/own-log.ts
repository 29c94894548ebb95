import { redactText } from "@agent-lifecycle/proto";
import { type Logger, pino } from "pino";
import type { LogLevel } from "../config/configuration.ts";

const MAX_TEXT_CHARACTERS = 2_000;
const MAX_DEPTH = 4;

/**
 * The collector's own log: one JSON line each on standard error. Whoever logs hands over no event contents; what looks
 * like a secret in what is handed over is redacted all the same, and long texts are cut.
 */
export function createOwnLog(level: LogLevel): Logger {
  return pino(
    {
      name: "agent-lifecycle",
      level,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (members) => presentable(members, MAX_DEPTH) as Record<string, unknown>,
      },
    },
    pino.destination({ fd: 2, sync: true }),
  );
}

function presentable(value: unknown, depth: number): unknown {
  if (typeof value === "string") return redactText(value).slice(0, MAX_TEXT_CHARACTERS);
  if (value instanceof Error) return presentable(`${value.name}: ${value.message}`, depth);
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return "…";
  if (Array.isArray(value)) return value.map((item: unknown) => presentable(item, depth - 1));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, presentable(member, depth - 1)]));
}
