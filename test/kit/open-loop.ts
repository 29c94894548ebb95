import { Agent, request } from "node:http";

/** What became of requests. */
export interface OpenLoopTally {
  /** Answered with 200. */
  acknowledged: number;
  /** Answered with 429 or 503, and with when to come again. */
  refused: number;
  /** Cut or never answered: they may have been stored or not. */
  unanswered: number;
  /** Due, and not sent: too many were waiting for their answers already. */
  heldBack: number;
  /** Anything else, in words. */
  readonly wrong: string[];
}

export interface OpenLoopOptions {
  readonly url: string;
  readonly nextBody: () => Buffer;
  /** Requests waiting for their answers at one time. */
  readonly maxWaiting: number;
}

const PACE_MS = 10;

/**
 * Sends at a rate that no answer slows down, as a fleet does that knows nothing of the collector's troubles: a refused
 * request is not sent again, the next one is due all the same.
 */
export class OpenLoop {
  readonly tally: OpenLoopTally = { acknowledged: 0, refused: 0, unanswered: 0, heldBack: 0, wrong: [] };
  readonly #options: OpenLoopOptions;
  readonly #agent: Agent;
  #waiting = 0;

  constructor(options: OpenLoopOptions) {
    this.#options = options;
    this.#agent = new Agent({ keepAlive: true, maxSockets: options.maxWaiting, scheduling: "fifo" });
  }

  /**
   * Opens all connections. A server that is busy takes new ones slowly, and a fleet has had its own for long; what waits
   * to be taken would bound the load otherwise.
   */
  async connect(): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.maxWaiting }, () => this.#knock()));
  }

  /** As many as answers allow, from so many senders. @returns acknowledged requests a second. */
  async saturate(senders: number, durationMs: number): Promise<number> {
    const before = this.tally.acknowledged;
    const startedAt = performance.now();
    const send = async (): Promise<void> => {
      while (performance.now() - startedAt < durationMs) await this.#post();
    };
    await Promise.all(Array.from({ length: senders }, send));
    return ((this.tally.acknowledged - before) * 1000) / (performance.now() - startedAt);
  }

  /** So many a second, for so long; resolves when every one has its answer or was given up. */
  async flood(requestsPerSecond: number, durationMs: number): Promise<void> {
    const startedAt = performance.now();
    const running = new Set<Promise<void>>();
    let sent = 0;
    while (performance.now() - startedAt < durationMs) {
      const due = Math.floor(((performance.now() - startedAt) * requestsPerSecond) / 1000);
      for (; sent < due; sent += 1) {
        if (this.#waiting >= this.#options.maxWaiting) {
          this.tally.heldBack += 1;
          continue;
        }
        const posted = this.#post().finally(() => running.delete(posted));
        running.add(posted);
      }
      // The pace of the load itself: nothing is waited for here.
      await new Promise((resolve) => setTimeout(resolve, PACE_MS));
    }
    await Promise.all(running);
  }

  close(): void {
    this.#agent.destroy();
  }

  #knock(): Promise<void> {
    return new Promise((resolve, reject) => {
      const knocking = request(this.#options.url, { method: "GET", agent: this.#agent });
      knocking.once("response", (answer) => answer.resume().once("end", resolve));
      knocking.once("error", reject);
      knocking.end();
    });
  }

  #post(): Promise<void> {
    const body = this.#options.nextBody();
    const { tally } = this;
    this.#waiting += 1;
    return new Promise((resolve) => {
      const finish = (count: () => void): void => {
        this.#waiting -= 1;
        count();
        resolve();
      };
      const sending = request(this.#options.url, {
        method: "POST",
        agent: this.#agent,
        headers: { "content-type": "application/x-protobuf", "content-length": body.length },
      });
      let isAnswered = false;
      sending.once("response", (answer) => {
        isAnswered = true;
        answer.resume();
        answer.once("close", () =>
          finish(() => {
            const retryAfter = answer.headers["retry-after"];
            if (!answer.complete) tally.unanswered += 1;
            else if (answer.statusCode === 200) tally.acknowledged += 1;
            else if ((answer.statusCode === 503 || answer.statusCode === 429) && retryAfter !== undefined) {
              tally.refused += 1;
            } else tally.wrong.push(`${answer.statusCode}, Retry-After ${retryAfter}`);
          }),
        );
      });
      sending.once("error", () => {
        if (!isAnswered) finish(() => (tally.unanswered += 1));
      });
      sending.end(body);
    });
  }
}
