import type { DropReason } from "../counters.ts";
import type { Diagnostics } from "../diagnostics.ts";

/** Tells of the first failure of a row and of its end, not of every batch between. */
export class DeliveryEpisodes {
  readonly #diagnostics: Diagnostics;
  readonly #dropReasons = new Set<DropReason>();
  #isFailing = false;
  #spoolIsFailing = false;

  constructor(diagnostics: Diagnostics) {
    this.#diagnostics = diagnostics;
  }

  failing(problem: string): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#diagnostics.report("export_failed", problem);
  }

  spoolFailing(problem: string): void {
    if (this.#spoolIsFailing) return;
    this.#spoolIsFailing = true;
    this.#diagnostics.report("spool_failed", problem);
  }

  dropped(reason: DropReason): void {
    if (this.#dropReasons.has(reason)) return;
    this.#dropReasons.add(reason);
    this.#diagnostics.report("events_dropped", `events are dropped: ${reason}`);
  }

  rejected(count: number, message: string | undefined): void {
    this.#diagnostics.report("events_rejected", `${count} rejected by the endpoint: ${message ?? "no reason given"}`);
  }

  delivered(): void {
    this.#dropReasons.clear();
    this.#spoolIsFailing = false;
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#diagnostics.report("export_recovered", "the endpoint takes events again");
  }
}
