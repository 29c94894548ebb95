import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import type { LimitsConfiguration } from "../config/configuration.ts";
import { memoryLimitBytes } from "../config/quantities.ts";
import { ByteBudget } from "../http/byte-budget.ts";
import type { Admission } from "../runtime/admission.ts";
import { type AdmissionTelemetry, createAdmissionControl } from "../runtime/admission-control.ts";
import type { Clock } from "../runtime/clock.ts";
import { ProcessPressure } from "../runtime/process-pressure.ts";
import { RateLimit } from "../runtime/rate-limit.ts";
import type { Writer } from "../runtime/writer.ts";

export interface AdmissionParts {
  readonly limits: LimitsConfiguration;
  readonly clock: Clock;
  readonly writer: Writer;
  readonly telemetry: AdmissionTelemetry;
}

export interface ComposedAdmission {
  readonly admission: Admission;
  /** What the bodies of all listeners take together. */
  readonly budget: ByteBudget;
  readonly pressure: ProcessPressure;
  /** From now on. `undefined`: any number. */
  limitRate(requestsPerSecond: number | undefined): void;
}

/** What decides whether a request is let in, for all listeners together. */
export function composeAdmission({ limits, clock, writer, telemetry }: AdmissionParts): ComposedAdmission {
  const budget = new ByteBudget(limits.bodiesBytes);
  const pressure = new ProcessPressure({
    clock,
    maxEventLoopDelayMs: limits.eventLoopDelayMs,
    maxMemoryBytes: memoryLimitBytes(limits.memory, usableMemoryBytes()),
  });
  let rateLimit: RateLimit | undefined;
  const limitRate = (perSecond: number | undefined): void => {
    if (perSecond === undefined) rateLimit = undefined;
    else if (rateLimit === undefined) rateLimit = new RateLimit({ perSecond, clock });
    else rateLimit.limitTo(perSecond);
  };
  limitRate(limits.requestsPerSecond);
  const admission = createAdmissionControl({
    pressure: () => pressure.current,
    unansweredBytes: () => budget.promptBytes,
    // Refused before it is read: half of what would be refused after it was decoded, in vain.
    maxUnansweredBytes: limits.queueBytes / 2,
    writerRefusal: () => writer.refusal(0),
    rateLimit: () => rateLimit,
    telemetry,
  });
  return { admission, budget, pressure, limitRate };
}

/** What V8 may grow to, or less where the machine or a container has less. */
function usableMemoryBytes(): number {
  const constrained = process.constrainedMemory();
  // Without a limit a number beyond any machine is told, or 0.
  const machine = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.min(machine, getHeapStatistics().heap_size_limit);
}
