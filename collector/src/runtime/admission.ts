import type { Refusal } from "./intake.ts";

/**
 * Decides whether a request is let in at all, before anything of its body is read or decoded: refusing late would cost
 * the memory and time that an overloaded collector does not have.
 */
export interface Admission {
  /**
   * Why a sender's request is not taken now, or `undefined`. Counts the request against the sender's rate when it is.
   * @param sender name of the principal
   */
  refusal(sender: string): Refusal | undefined;
}

/** Lets everything in: the writer's own bound still holds. */
export const OPEN_ADMISSION: Admission = { refusal: () => undefined };
