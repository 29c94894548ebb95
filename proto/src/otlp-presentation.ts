import type { LifecycleEvent } from "./event.ts";
import type { TerminalState } from "./state.ts";
import { cutText } from "./text.ts";

/** An OpenTelemetry severity: the number decides, the text is what displays group by. */
export interface Severity {
  readonly number: number;
  readonly text: "DEBUG" | "INFO" | "WARN" | "ERROR";
}

const DEBUG: Severity = Object.freeze({ number: 5, text: "DEBUG" });
const INFO: Severity = Object.freeze({ number: 9, text: "INFO" });
const WARN: Severity = Object.freeze({ number: 13, text: "WARN" });
const FAILED: Severity = Object.freeze({ number: 17, text: "ERROR" });
const LOST: Severity = Object.freeze({ number: 18, text: "ERROR" });

const MAX_BODY_LENGTH = 256;

/** How loud an event is: signs of life DEBUG, transitions INFO, waiting and diagnostics WARN, failed and lost ERROR. */
export function severityOf(event: LifecycleEvent): Severity {
  if (event.kind === "heartbeat" || event.kind === "activity") return DEBUG;
  if (event.kind === "diagnostic" || event.state === "waiting") return WARN;
  if (event.state === "failed") return FAILED;
  return event.state === "lost" ? LOST : INFO;
}

/** One short sentence for people, at most 256 characters. Programs read the attributes. */
export function bodyOf(event: LifecycleEvent): string {
  const who = event.details?.name ?? event.childId;
  return cutText(
    `${who} ${predicate(event)}${event.activity === undefined ? "" : `: ${event.activity}`}`,
    MAX_BODY_LENGTH,
  );
}

const ENDINGS: Readonly<Record<TerminalState, string>> = {
  completed: "completed",
  failed: "failed",
  cancelled: "was cancelled",
  lost: "is lost",
};

function predicate(event: LifecycleEvent): string {
  const { details } = event;
  switch (event.kind) {
    case "created":
      return "was created";
    case "activity":
      return details?.tool === undefined ? "is active" : `uses ${details.tool}`;
    case "heartbeat":
      return "is alive";
    case "reconciliation":
      return "is being reconciled";
    case "diagnostic":
      return "has a diagnostic";
    case "terminal":
      return details?.cause === undefined ? ENDINGS[event.state] : `${ENDINGS[event.state]} (${details.cause})`;
    case "state_changed":
      return isEnding(event.state) ? ENDINGS[event.state] : `is ${event.state}${waitingText(event)}`;
  }
}

function isEnding(state: string): state is TerminalState {
  return Object.hasOwn(ENDINGS, state);
}

function waitingText(event: LifecycleEvent): string {
  const waitingOn = event.state === "waiting" ? event.details?.waitingOn : undefined;
  return waitingOn === undefined ? "" : ` for ${waitingOn.kind.replace("_", " ")}`;
}
