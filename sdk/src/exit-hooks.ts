import type { Clock } from "./clock.ts";
import { beforeDeadline } from "./deadline.ts";
import type { EventSink } from "./export-chain/event-sink.ts";

/** A lifecycle that wants its events out before the process is gone. */
export interface ExitMember {
  readonly sink: EventSink;
  /** The process is ending: from now on every event is settled in the turn it comes in. */
  readonly onExit: () => void;
  /** Events emitted so far: tells whether there is anything new since the last try. */
  readonly emitted: () => number;
  /** How long the end may be held up, milliseconds. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

const SIGNALS: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT"];

/** Members with the count of events that their last flush at `beforeExit` has seen. */
const members = new Map<ExitMember, { flushedUpTo: number }>();
let dying: NodeJS.Signals | undefined;

/**
 * Flushes the member when the process ends. The host's exit code is never touched. One set of hooks serves all
 * lifecycles of the process; they are there only while there is a member.
 * @returns removes the member.
 */
export function registerForExit(member: ExitMember): () => void {
  if (members.size === 0) install();
  members.set(member, { flushedUpTo: -1 });
  return () => {
    if (members.delete(member) && members.size === 0) uninstall();
  };
}

function install(): void {
  process.on("beforeExit", onBeforeExit);
  process.on("exit", onExit);
  // In front of the host's listeners: one added with `once` is gone by the time later ones run, and must be seen.
  for (const signal of SIGNALS) process.prependListener(signal, onSignal);
}

function uninstall(): void {
  process.off("beforeExit", onBeforeExit);
  process.off("exit", onExit);
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

/**
 * Node calls this whenever the loop has run dry, and again after what it starts: only new events start another flush.
 * The host's own listeners run after this one and may emit: the look is taken when they are through.
 */
function onBeforeExit(): void {
  process.nextTick(flushNewEvents);
}

function flushNewEvents(): void {
  for (const [member, progress] of members) {
    const emitted = member.emitted();
    if (member.sink.buffered() === 0 || emitted === progress.flushedUpTo) continue;
    progress.flushedUpTo = emitted;
    void flushBeforeDeath(member);
  }
}

/** The last moment, also after `process.exit()` and an uncaught exception: only synchronous work still counts. */
function onExit(): void {
  for (const member of members.keys()) {
    member.onExit();
    member.sink.settleNow("process_exit");
  }
}

/**
 * A process without listeners of its own dies by the signal, after a flush with a deadline. With listeners of its own
 * the host decides: the flush goes along, and this listener steps aside while they run, so that those which die only
 * when they are alone (as signal-exit does) see what they would see without it.
 */
function onSignal(signal: NodeJS.Signals): void {
  process.off(signal, onSignal);
  if (process.listenerCount(signal) > 0) {
    // The host may well live on: nothing is given up for this.
    for (const { sink } of members.keys()) void sink.flush("until_deadline");
    process.nextTick(() => {
      if (members.size > 0 && !process.listeners(signal).includes(onSignal)) process.prependListener(signal, onSignal);
    });
    return;
  }
  dying = signal;
  void Promise.all([...members.keys()].map(flushBeforeDeath)).then(() => {
    if (dying !== signal) return;
    for (const { sink } of members.keys()) sink.settleNow("process_exit");
    process.kill(process.pid, signal);
  });
}

async function flushBeforeDeath(member: ExitMember): Promise<void> {
  try {
    await beforeDeadline(member.sink.flush("process_exit"), member.timeoutMs, member.clock);
  } catch {
    // Sinks do not reject; if one does all the same, the process's end is not the place to say so.
  }
}
