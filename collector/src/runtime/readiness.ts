/** Whether the collector can take and answer for evidence now, and if not, why, in words for an operator. */
export type Readiness = { readonly ready: true } | { readonly ready: false; readonly reason: string };

export const READY: Readiness = Object.freeze({ ready: true });
