import { type Details, MAX_DETAIL_TEXT_LENGTH, sanitizeDetails, type WaitingOn } from "@agent-lifecycle/proto";
import { boundedText, isMembers } from "./argument.ts";
import { detailsFromHost } from "./details-from-host.ts";
import type { Diagnostics } from "./diagnostics.ts";

/** Free-form facts beside an event. Anything is accepted; what cannot be kept is left out and reported. */
export type DetailsInput = Readonly<Record<string, unknown>>;

/** What a child waits on: a text for people, or the contract's `waitingOn`. */
export type WaitingReason = string | WaitingOn;

/**
 * Makes an event's details from what the host gave and from what the call itself says (`own` wins). Redacted and
 * bounded (N3–N5); never throws for what members hold.
 */
export function eventDetails(
  given: unknown,
  own: Readonly<Record<string, unknown>> | undefined,
  childId: string,
  diagnostics: Diagnostics,
): Details | undefined {
  if (given === undefined && own === undefined) return undefined;
  if (given !== undefined && given !== null && !isMembers(given)) {
    diagnostics.report("invalid_argument", "details must be an object", { path: "details", childId });
    if (own === undefined) return undefined;
  }
  const host = isMembers(given) ? detailsFromHost(given) : undefined;
  for (const path of host?.unreadable ?? []) {
    diagnostics.report("details_unreadable", "a member cannot be read", { path: `details.${path}`, childId });
  }
  const sanitized = sanitizeDetails({
    ...host?.members,
    ...(host?.cut === true ? { truncated: true } : undefined),
    ...own,
  });
  for (const { code, path } of sanitized.diagnostics) {
    if (isDetailsCode(code))
      diagnostics.report(code, "a part of details was left out", { path: path ?? "details", childId });
  }
  return sanitized.details;
}

type DetailsCode = "reserved_member_malformed" | "details_cut" | "member_name_forbidden";

function isDetailsCode(code: string): code is DetailsCode {
  return code === "reserved_member_malformed" || code === "details_cut" || code === "member_name_forbidden";
}

/** The `waitingOn` member of a call of `waiting`. */
export function waitingMember(reason: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof reason === "string")
    return reason.trim() === "" ? undefined : { waitingOn: { kind: "other", text: boundedText(reason) } };
  if (reason === undefined || reason === null) return undefined;
  // A malformed one is reported by the same check that every reserved member passes.
  if (!isMembers(reason)) return { waitingOn: "" };
  const { members } = detailsFromHost(reason);
  const { text } = members;
  return { waitingOn: typeof text === "string" ? { ...members, text: boundedText(text) } : members };
}

/** The `cause` of a call of `failed`: a word or number, or an error's name with its message and code beside it. */
export function causeMembers(
  cause: unknown,
  childId: string,
  diagnostics: Diagnostics,
): Readonly<Record<string, unknown>> | undefined {
  if (cause === undefined || cause === null) return undefined;
  if (typeof cause === "string")
    return cause.trim() === "" ? undefined : { cause: boundedText(cause.trim(), MAX_DETAIL_TEXT_LENGTH) };
  if (typeof cause === "number" || typeof cause === "bigint") return { cause: String(cause) };
  if (!isMembers(cause)) {
    diagnostics.report("invalid_argument", "a cause is a word or an error", { path: "cause", childId });
    return undefined;
  }
  const name = textMember(cause, "name");
  const message = textMember(cause, "message");
  const code = textMember(cause, "code");
  return {
    cause: boundedText(name ?? "error", MAX_DETAIL_TEXT_LENGTH),
    ...(message === undefined ? undefined : { errorMessage: boundedText(message) }),
    ...(code === undefined ? undefined : { errorCode: boundedText(code, MAX_DETAIL_TEXT_LENGTH) }),
  };
}

/** Reads one text of a foreign object; a getter that throws has no text. */
function textMember(holder: Readonly<Record<string, unknown>>, name: string): string | undefined {
  try {
    const value = holder[name];
    return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
  } catch {
    return undefined;
  }
}
