import type { ReadableLogRecord } from "@opentelemetry/sdk-logs";
import type { CancelTimer, Clock } from "../clock.ts";
import { textOfError } from "../diagnostics.ts";
import { completedRecord } from "../log-record-mapping.ts";
import type { BatchTransport, DeliveryOutcome } from "./delivery-outcome.ts";
import type { Entry } from "./entry-queue.ts";
import { retryDelayMs } from "./retry-backoff.ts";

/** The end of a batch: the endpoint has it, or it is up to the caller. */
export type BatchFate =
  | { readonly status: "delivered"; readonly rejected: number; readonly message?: string }
  | { readonly status: "failed"; readonly reason: "export_refused"; readonly problem: string }
  | {
      readonly status: "failed";
      readonly reason: "export_unavailable";
      readonly problem: string;
      /** The server asked not to be asked again before this time. */
      readonly notBeforeMs?: number;
    };

export interface BatchDeliverySettings {
  readonly transport: BatchTransport;
  readonly clock: Clock;
  /** In [0, 1), for the back-off. */
  readonly random: () => number;
  /** How long to go on trying, milliseconds; `undefined`: until told to stop. */
  readonly patienceMs: number | undefined;
  /** Told of every attempt that will be followed by another; `notBeforeMs` when the server named a time for it. */
  readonly onRetry: (problem: string, notBeforeMs: number | undefined) => void;
  /** A wait before the first attempt, milliseconds; one that the server asked for is not cut short. Default: none. */
  readonly firstWait?: { readonly delayMs: number; readonly askedByServer: boolean };
}

/** One batch on its way, through as many attempts as it takes. */
export class BatchDelivery {
  readonly entries: readonly Entry[];
  readonly firstNumber: number;
  readonly #settings: BatchDeliverySettings;
  readonly #abort = new AbortController();
  readonly #startedAt: number;
  #impatient = false;
  #stopWaiting: (() => void) | undefined;
  #waitIsOurs = false;

  constructor(entries: readonly Entry[], firstNumber: number, settings: BatchDeliverySettings) {
    this.entries = entries;
    this.firstNumber = firstNumber;
    this.#settings = settings;
    this.#startedAt = settings.clock.now();
  }

  /** @returns the fate, or `undefined` when the batch was withdrawn. Never rejects. */
  async run(): Promise<BatchFate | undefined> {
    const records = this.entries.map(({ record, event, isOld }) => completedRecord(record, event, isOld === true));
    const { firstWait } = this.#settings;
    if (firstWait !== undefined) {
      await this.#pause(firstWait.delayMs, !firstWait.askedByServer);
      if (this.#abort.signal.aborted) return undefined;
    }
    for (let attempts = 1; ; attempts += 1) {
      const outcome = await this.#attempt(records);
      if (this.#abort.signal.aborted) return undefined;
      if (outcome.status === "delivered") return outcome;
      if (outcome.status === "refused") return { status: "failed", reason: "export_refused", problem: outcome.problem };
      const { clock, patienceMs, random, onRetry } = this.#settings;
      const retryAfterMs = outcome.status === "busy" ? outcome.retryAfterMs : undefined;
      const notBeforeMs = retryAfterMs === undefined ? undefined : clock.now() + retryAfterMs;
      const unavailable: BatchFate = {
        status: "failed",
        reason: "export_unavailable",
        problem: outcome.problem,
        ...(notBeforeMs === undefined ? undefined : { notBeforeMs }),
      };
      if (this.#impatient && outcome.status === "unreachable") return unavailable;
      const delayMs = retryDelayMs(attempts, retryAfterMs, random());
      if (patienceMs !== undefined && clock.now() + delayMs - this.#startedAt > patienceMs) return unavailable;
      onRetry(outcome.problem, notBeforeMs);
      await this.#pause(delayMs, retryAfterMs === undefined);
      if (this.#abort.signal.aborted) return undefined;
    }
  }

  /** Whether the next attempt waits for a time that the server named. */
  get waitsForServer(): boolean {
    return this.#stopWaiting !== undefined && !this.#waitIsOurs;
  }

  /** Tries again now instead of waiting, unless the server asked for the wait; while `impatient`, an endpoint that does not answer is final. */
  hurry(impatient: boolean): void {
    this.#impatient = impatient;
    if (this.#waitIsOurs) this.#stopWaiting?.();
  }

  /** Takes the batch back: `run` ends without a fate. */
  withdraw(): void {
    this.#abort.abort();
    this.#stopWaiting?.();
  }

  async #attempt(records: readonly ReadableLogRecord[]): Promise<DeliveryOutcome> {
    try {
      return await this.#settings.transport.send(records, this.#abort.signal);
    } catch (error) {
      return { status: "refused", problem: textOfError(error) };
    }
  }

  #pause(delayMs: number, isOurs: boolean): Promise<void> {
    this.#waitIsOurs = isOurs;
    return new Promise((resolve) => {
      let cancel: CancelTimer = () => undefined;
      const done = (): void => {
        this.#stopWaiting = undefined;
        cancel();
        resolve();
      };
      this.#stopWaiting = done;
      cancel = this.#settings.clock.after(delayMs, done);
    });
  }
}
