/** How far one session's stream was passed on. */
export interface Watermark {
  readonly lastSeen: number;
  /** How often the gateway began to number this session anew within its epoch. */
  readonly restarts: number;
}

/** What is kept of the streams of one epoch. */
export interface WatermarkRecord {
  readonly epoch: string;
  readonly sessions: Readonly<Record<string, Watermark>>;
}

/** Where watermarks outlive the collector. */
export interface WatermarkMemory {
  load(): Promise<WatermarkRecord | undefined>;
  save(record: WatermarkRecord): Promise<void>;
}

/** The gateway keeps the streams of 64 sessions; those of more are gone on its side. */
const MAX_SESSIONS = 256;

const AT_THE_BEGINNING: Watermark = { lastSeen: 0, restarts: 0 };

/** Which frames of which session were passed on, for one epoch at a time. */
export class ReplayWatermarks {
  #epoch = "";
  readonly #sessions = new Map<string, Watermark>();

  get epoch(): string {
    return this.#epoch;
  }

  /** A new epoch numbers its frames anew: nothing of the old one counts. */
  enterEpoch(epoch: string): void {
    if (epoch === this.#epoch) return;
    this.#epoch = epoch;
    this.#sessions.clear();
  }

  restore(record: WatermarkRecord): void {
    this.enterEpoch(record.epoch);
    for (const [sessionId, watermark] of Object.entries(record.sessions)) this.#set(sessionId, watermark);
  }

  of(sessionId: string): Watermark {
    return this.#sessions.get(sessionId) ?? AT_THE_BEGINNING;
  }

  advance(sessionId: string, sequence: number): void {
    const watermark = this.of(sessionId);
    if (sequence > watermark.lastSeen) this.#set(sessionId, { ...watermark, lastSeen: sequence });
  }

  /**
   * A gateway that forgot a session's stream and then speaks of the session again numbers it from 1, in the same epoch:
   * its newest frame lies below what was read. Those are other frames, and get other identities.
   */
  restart(sessionId: string): void {
    this.#set(sessionId, { lastSeen: 0, restarts: this.of(sessionId).restarts + 1 });
  }

  record(): WatermarkRecord {
    return { epoch: this.#epoch, sessions: Object.fromEntries(this.#sessions) };
  }

  #set(sessionId: string, watermark: Watermark): void {
    this.#sessions.delete(sessionId);
    this.#sessions.set(sessionId, watermark);
    if (this.#sessions.size <= MAX_SESSIONS) return;
    const [oldest] = this.#sessions.keys();
    if (oldest !== undefined) this.#sessions.delete(oldest);
  }
}

/** Identifies a numbered frame wherever it is read. */
export function frameIdOf(epoch: string, sessionId: string, sequence: number, restarts: number): string {
  const run = restarts === 0 ? "" : `+${restarts}`;
  return `${epoch}:${sessionId}${run}:${sequence}`;
}
