import type { Admission } from "./admission.ts";
import type { Refusal } from "./intake.ts";
import type { Pressure } from "./process-pressure.ts";
import type { RateLimit } from "./rate-limit.ts";

export interface AdmissionControlParts {
  /** What is too much for the process now. */
  readonly pressure: () => Pressure | undefined;
  /** Received, whole or in part, and not yet answered, over all requests; slow bodies not. Bytes. */
  readonly unansweredBytes: () => number;
  /** With so much unanswered nothing more is let in: what waits would wait for longer than senders do. Bytes. */
  readonly maxUnansweredBytes: number;
  /** Why the writer takes nothing more now. */
  readonly writerRefusal: () => Refusal | undefined;
  /** Requests each sender may make. Without it: any number. */
  readonly rateLimit: () => RateLimit | undefined;
  readonly telemetry: AdmissionTelemetry;
}

/** What is told of requests that are not let in. Cheap, and never throws. */
export interface AdmissionTelemetry {
  countAdmissionRefusal(reason: AdmissionRefusalReason): void;
}

export type AdmissionRefusalReason = Pressure | "queue" | "rate";

const RETRY_AFTER_SECONDS = 1;
/** Some exporters drop a batch when they are to wait for longer than the time they have left. */
const MAX_RETRY_AFTER_SECONDS = 3;

/** Lets a request in while there is room for it. What a sender is refused for the others' sake does not count against its rate. */
export function createAdmissionControl(parts: AdmissionControlParts): Admission {
  const overloaded = (reason: AdmissionRefusalReason): Refusal => {
    parts.telemetry.countAdmissionRefusal(reason);
    return { kind: "overloaded", retryAfterSeconds: RETRY_AFTER_SECONDS };
  };
  return {
    refusal: (sender) => {
      const pressure = parts.pressure();
      if (pressure !== undefined) return overloaded(pressure);
      if (parts.unansweredBytes() >= parts.maxUnansweredBytes) return overloaded("queue");
      const refusal = parts.writerRefusal();
      if (refusal?.kind === "overloaded") return overloaded("queue");
      if (refusal !== undefined) return refusal;
      const waitSeconds = parts.rateLimit()?.take(sender) ?? 0;
      if (waitSeconds === 0) return undefined;
      parts.telemetry.countAdmissionRefusal("rate");
      const retryAfterSeconds = Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(1, Math.ceil(waitSeconds)));
      return { kind: "rate_limited", retryAfterSeconds };
    },
  };
}
