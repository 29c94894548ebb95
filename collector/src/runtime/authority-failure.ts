import { cutText, type Diagnostic, redactText } from "@agent-lifecycle/proto";

const MAX_FAILURE_LENGTH = 200;

/** What went wrong with an authority, in words that may be shown: bounded, without secrets. */
export function failureInWords(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return cutText(redactText(cutText(text, MAX_FAILURE_LENGTH * 16)), MAX_FAILURE_LENGTH);
}

/** Why what an authority said cannot be used. @param diagnostic the first, if any is known */
export function refusalInWords(diagnostic: Diagnostic | undefined): string {
  const why = [diagnostic?.path, diagnostic?.text ?? diagnostic?.code].filter(
    (text) => text !== undefined && text !== "",
  );
  return failureInWords(["its answer is refused", ...why].join(": "));
}
