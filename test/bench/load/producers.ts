import type { CohortOptions } from "./cohort.ts";
import { HttpClient } from "./http-client.ts";
import { CONTENT_TYPES, CohortRequests, type Encoding } from "./requests.ts";

export interface ProducersOptions {
  readonly encoding: Encoding;
  /** Producers that send at once, each over a connection of its own and one request after another. */
  readonly concurrency: number;
  readonly eventsPerRequest: number;
  readonly cohort?: CohortOptions;
  /** Number of the first cohort: fleets that load the same collector must not repeat each other. Default 1. */
  readonly firstCohort?: number;
}

/** How one stretch of load went. */
export interface Stretch {
  readonly events: number;
  readonly requests: number;
  readonly seconds: number;
  readonly eventsPerSecond: number;
}

/**
 * A fleet of producers. Every stretch continues where the last one ended, with cohorts that nobody has seen yet. A
 * request that is refused ends the benchmark: figures of a collector that loses load would mean nothing.
 */
export class Producers {
  readonly #options: ProducersOptions;
  readonly #client: HttpClient;
  readonly #requests: readonly CohortRequests[];
  #nextCohort: number;

  constructor(options: ProducersOptions) {
    const { concurrency, encoding, eventsPerRequest, cohort, firstCohort = 1 } = options;
    this.#options = options;
    this.#nextCohort = firstCohort;
    this.#client = new HttpClient(concurrency);
    this.#requests = Array.from({ length: concurrency }, () => new CohortRequests(encoding, eventsPerRequest, cohort));
  }

  /** Sends as fast as answers come, whole cohorts only, until the time is up. */
  async saturate(url: string, durationMs: number): Promise<Stretch> {
    const startedAt = performance.now();
    return this.#report(url, startedAt, () => performance.now() - startedAt < durationMs);
  }

  /** Sends at least so many events, as fast as answers come, in whole cohorts. */
  async send(url: string, events: number): Promise<Stretch> {
    let promised = 0;
    return this.#report(url, performance.now(), () => {
      if (promised >= events) return false;
      promised += this.#eventsPerCohort;
      return true;
    });
  }

  /**
   * Sends at a steady pace, cohort after cohort, until the time is up in the middle of one. Each time to the answer
   * counts from when the request was due, so that a stall is not hidden by the requests it held back.
   * @returns milliseconds.
   */
  async latencies(url: string, eventsPerSecond: number, durationMs: number): Promise<readonly number[]> {
    const { concurrency, eventsPerRequest } = this.#options;
    const intervalMs = (eventsPerRequest * concurrency * 1000) / eventsPerSecond;
    const startedAt = performance.now();
    const endsAt = startedAt + durationMs;
    const perProducer = this.#requests.map(async (requests, producer) => {
      const latencies: number[] = [];
      let dueAt = startedAt + (producer * intervalMs) / concurrency;
      while (dueAt < endsAt) {
        const cohort = this.#takeCohort();
        for (let request = 0; request < requests.requestsPerCohort && dueAt < endsAt; request += 1) {
          await until(dueAt);
          await this.#post(url, requests.body(cohort, request));
          latencies.push(performance.now() - dueAt);
          dueAt += intervalMs;
        }
      }
      return latencies;
    });
    return (await Promise.all(perProducer)).flat();
  }

  close(): void {
    this.#client.close();
  }

  get #eventsPerCohort(): number {
    const { eventsPerRequest } = this.#options;
    return eventsPerRequest * (this.#requests[0]?.requestsPerCohort ?? 0);
  }

  async #report(url: string, startedAt: number, isWanted: () => boolean): Promise<Stretch> {
    let events = 0;
    await Promise.all(
      this.#requests.map(async (requests) => {
        while (isWanted()) {
          const cohort = this.#takeCohort();
          for (let request = 0; request < requests.requestsPerCohort; request += 1) {
            await this.#post(url, requests.body(cohort, request));
            events += requests.eventsPerRequest;
          }
        }
      }),
    );
    const seconds = (performance.now() - startedAt) / 1000;
    return { events, requests: events / this.#options.eventsPerRequest, seconds, eventsPerSecond: events / seconds };
  }

  #takeCohort(): number {
    const cohort = this.#nextCohort;
    this.#nextCohort += 1;
    return cohort;
  }

  async #post(url: string, body: Buffer): Promise<void> {
    await this.#client.post(url, CONTENT_TYPES[this.#options.encoding], body);
  }
}

/** Timers keep whole milliseconds; the last one is spent looking at the clock. */
async function until(time: number): Promise<void> {
  const early = time - performance.now() - 1;
  if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
  while (performance.now() < time) await new Promise((resolve) => setImmediate(resolve));
}
