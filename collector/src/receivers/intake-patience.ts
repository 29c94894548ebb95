import { setTimeout as delay } from "node:timers/promises";
import type { Refusal } from "../runtime/intake.ts";

/** Waits; rejects when the signal fires. Tests bring their own. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

export const SYSTEM_WAIT: Wait = async (ms, signal) => {
  await delay(ms, undefined, { signal, ref: false });
};

const UNAVAILABLE_DELAY_MS = 1_000;

/** For receivers that can make their source wait: a refused batch is offered again after a while, until the signal fires. */
export function patientlyRetrying(wait: Wait, signal: AbortSignal): (refusal: Refusal) => Promise<void> {
  return (refusal) =>
    wait(refusal.kind === "unavailable" ? UNAVAILABLE_DELAY_MS : refusal.retryAfterSeconds * 1000, signal);
}
