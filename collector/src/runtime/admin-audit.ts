import { redactText } from "@agent-lifecycle/proto";
import type { AdminActionStore, AdminOutcome, StoredAdminAction } from "../store/admin-actions.ts";
import type { Clock } from "./clock.ts";

export type { AdminOutcome, StoredAdminAction } from "../store/admin-actions.ts";

/** Who wants what, and from where. */
export interface AdminRequest {
  readonly principal: string;
  readonly action: string;
  readonly address: string;
  /** What it is about, such as the name of a backup. */
  readonly text: string;
}

/** How an action ended. */
export interface AdminConclusion {
  readonly outcome: AdminOutcome;
  readonly text: string;
}

const MAX_TEXT_CHARACTERS = 1_024;
/** Refused attempts that are written down, at most. Each costs a write to the disk: nobody may cause any number of them. */
const REFUSALS_PER_MINUTE = 20;
const ONE_MINUTE_MS = 60_000;

/**
 * The record of what was administered. An action is written down before it runs and once more when it has ended: one
 * that cannot be written down does not run, and one that a crash cut short is seen to have started.
 */
export class AdminAudit {
  readonly #store: AdminActionStore;
  readonly #clock: Clock;
  #minute = Number.NEGATIVE_INFINITY;
  #refusalsInMinute = 0;
  #refusalsNotWritten = 0;

  constructor(store: AdminActionStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Returns how to write down the end. @throws StoreUnavailableError when nothing can be written. */
  begin(request: AdminRequest): (conclusion: AdminConclusion) => void {
    const id = this.#append(request, "started", request.text);
    return ({ outcome, text }) => this.#store.finish(id, outcome, shown(joined(request.text, text)));
  }

  /**
   * An attempt of somebody who may not. The first 20 in a minute are written down; the next one that is written says how
   * many there were between. @throws StoreUnavailableError
   */
  refuse(request: AdminRequest): void {
    const minute = Math.floor(this.#clock.monotonicNow() / ONE_MINUTE_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#refusalsInMinute = 0;
    }
    this.#refusalsInMinute += 1;
    if (this.#refusalsInMinute > REFUSALS_PER_MINUTE) {
      this.#refusalsNotWritten += 1;
      return;
    }
    const between = this.#refusalsNotWritten === 0 ? "" : `${this.#refusalsNotWritten} more before it`;
    this.#append(request, "refused", joined(request.text, between));
    this.#refusalsNotWritten = 0;
  }

  list(query: { readonly limit: number; readonly beforeId?: number }): readonly StoredAdminAction[] {
    return this.#store.list(query);
  }

  #append({ principal, action, address }: AdminRequest, outcome: AdminOutcome, text: string): number {
    return this.#store.append({ at: this.#clock.wallNow(), principal, action, address, outcome, text: shown(text) });
  }
}

function joined(subject: string, text: string): string {
  return [subject, text].filter((part) => part !== "").join(": ");
}

function shown(text: string): string {
  return redactText(text).slice(0, MAX_TEXT_CHARACTERS);
}
