/** `problem`: the collector cannot start, or loses something. `warning`: it runs, and something should be changed. */
export type FindingLevel = "ok" | "warning" | "problem";

/** What one look came to. Holds no secret. */
export interface Finding {
  /** What was looked at: `port`, `database`, `certificate` … */
  readonly check: string;
  readonly level: FindingLevel;
  /** What was found, in words. */
  readonly text: string;
  /** What to do about it. Never with `ok`. */
  readonly advice?: string;
}

export function ok(check: string, text: string): Finding {
  return { check, level: "ok", text };
}

export function warning(check: string, text: string, advice: string): Finding {
  return { check, level: "warning", text, advice };
}

export function problem(check: string, text: string, advice: string): Finding {
  return { check, level: "problem", text, advice };
}

/** The operating system's name of an error, such as `EACCES`; `undefined` for any other. */
export function errorCodeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** The sentence of anything thrown. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
