import { cutText, DIAGNOSTIC_CODES, type Diagnostic, MAX_EXCERPT_LENGTH, redactText } from "@agent-lifecycle/proto";
import type { Intake, Origin, Refusal } from "../runtime/intake.ts";
import type { Delivery, ReceiverIntake } from "../runtime/receiver.ts";

export interface GatedIntake {
  readonly intake: ReceiverIntake;
  /** From now on nothing goes through: whoever calls after a shutdown is refused. */
  close(): void;
}

const CLOSED: Refusal = { kind: "unavailable", retryable: true, reason: "the receiver was shut down" };

/**
 * The door for one receiver of somebody else: its name is put on everything, its arguments are looked at, and it closes.
 * A wrong number here would otherwise go into the accounts of the whole collector.
 */
export function gateIntake(intake: Intake, receiver: string): GatedIntake {
  let isOpen = true;
  return {
    close: () => {
      isOpen = false;
    },
    intake: {
      acceptEvents: (candidates, delivery) => {
        if (!Array.isArray(candidates)) throw new TypeError("candidates must be an array");
        const origin = originOf(delivery, receiver);
        return isOpen ? intake.acceptEvents(candidates, origin) : Promise.resolve(CLOSED);
      },
      acceptSnapshot: (candidate, delivery) => {
        const origin = originOf(delivery, receiver);
        return isOpen ? intake.acceptSnapshot(candidate, origin) : Promise.resolve(CLOSED);
      },
      countForeign: (records) => {
        if (!isCount(records)) throw new TypeError(`records must be a whole number from 0, not ${records}`);
        if (isOpen && records > 0) intake.countForeign(receiver, records);
      },
      reportProblem: (problem) => {
        const checked = checkedProblem(problem);
        if (isOpen) intake.reportProblem(receiver, checked);
      },
    },
  };
}

function originOf({ backfill, bytes, allowedSources }: Delivery, receiver: string): Origin {
  if (typeof backfill !== "boolean") throw new TypeError("delivery.backfill must be true or false");
  if (!isCount(bytes)) throw new TypeError(`delivery.bytes must be a whole number from 0, not ${bytes}`);
  if (allowedSources === undefined) return { receiver, backfill, bytes };
  // A list would let everything through or nothing, depending on who asks it: that must not pass for a restriction.
  if (!(allowedSources instanceof Set)) throw new TypeError("delivery.allowedSources must be a Set");
  return { receiver, backfill, bytes, allowedSources };
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/** Diagnostics are stored and shown: codes are a closed set, texts are redacted and short (N3). */
function checkedProblem({ code, path, text }: Diagnostic): Diagnostic {
  if (!DIAGNOSTIC_CODES.includes(code)) throw new TypeError(`there is no diagnostic ${String(code)}`);
  return {
    code,
    ...(path === undefined ? undefined : { path: redactedExcerpt(path) }),
    ...(text === undefined ? undefined : { text: redactedExcerpt(text) }),
  };
}

/** What lies far beyond the excerpt is not looked at: a text of gigabytes costs no more than a page. */
function redactedExcerpt(text: string): string {
  return cutText(redactText(cutText(String(text), MAX_EXCERPT_LENGTH * 64)), MAX_EXCERPT_LENGTH);
}
