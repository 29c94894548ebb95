import { cutText, redactText } from "@agent-lifecycle/proto";

const MAX_TEXT_LENGTH = 200;

/** Text of somebody else's, fit for a log or a status: redacted, on one line, at most 200 characters. */
export function redactAndCut(text: string, length: number = MAX_TEXT_LENGTH): string {
  return cutText(redactText(text).replaceAll(/\s+/g, " ").trim(), length);
}

export function errorInWords(error: unknown): string {
  return redactAndCut(error instanceof Error ? error.message : String(error));
}
