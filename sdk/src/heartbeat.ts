import type { CancelTimer, Clock } from "./clock.ts";

/** One that can say it is alive. */
export interface HeartbeatMember {
  beat(): void;
}

/** The interval is divided so that ten thousand children do not speak in one turn. */
const SLOTS = 10;

/**
 * Automatic heartbeats of all children of a lifecycle, from one timer. A heartbeat says that this process's event loop
 * ran; it says nothing of progress, and nothing of a child that lives in another process. The timer keeps no process
 * alive and runs only while there are members.
 */
export class HeartbeatSchedule {
  readonly #slots: readonly Set<HeartbeatMember>[] = Array.from({ length: SLOTS }, () => new Set<HeartbeatMember>());
  readonly #slotOf = new Map<HeartbeatMember, number>();
  readonly #clock: Clock;
  readonly #slotMs: number;
  #current = 0;
  #cancel: CancelTimer | undefined;

  /** @param intervalMs Time between two heartbeats of a child, milliseconds; 0: none are sent. */
  constructor(clock: Clock, intervalMs: number) {
    this.#clock = clock;
    this.#slotMs = intervalMs / SLOTS;
  }

  /** The first heartbeat comes one interval from now. Adding a member twice changes nothing. */
  add(member: HeartbeatMember): void {
    if (this.#slotMs === 0 || this.#slotOf.has(member)) return;
    // The slot served last comes round again after a whole interval.
    const slot = (this.#current + SLOTS - 1) % SLOTS;
    this.#slots[slot]?.add(member);
    this.#slotOf.set(member, slot);
    this.#arm();
  }

  remove(member: HeartbeatMember): void {
    const slot = this.#slotOf.get(member);
    if (slot === undefined) return;
    this.#slotOf.delete(member);
    this.#slots[slot]?.delete(member);
    if (this.#slotOf.size === 0) this.#disarm();
  }

  stop(): void {
    this.#slotOf.clear();
    for (const slot of this.#slots) slot.clear();
    this.#disarm();
  }

  #arm(): void {
    this.#cancel ??= this.#clock.after(this.#slotMs, () => {
      this.#cancel = undefined;
      const due = this.#slots[this.#current];
      this.#current = (this.#current + 1) % SLOTS;
      if (this.#slotOf.size > 0) this.#arm();
      for (const member of [...(due ?? [])]) member.beat();
    });
  }

  #disarm(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
