import type { Readable } from "node:stream";
import type { Component } from "../runtime/component.ts";
import type { Intake } from "../runtime/intake.ts";
import { patientlyRetrying, SYSTEM_WAIT, type Wait } from "./intake-patience.ts";
import { JsonlSubmission, type JsonlTally } from "./jsonl-submission.ts";

export interface JsonlStreamOptions {
  readonly intake: Intake;
  /** Standard input, or anything else that is read once and to its end. */
  readonly stream: Readable;
  /** Names it in counters and diagnostics. Default `jsonl_stdin`. */
  readonly receiver?: string;
  readonly maxLineBytes?: number;
  /** Hears of a stream that fails. Its end is no failure, and says nothing about a child. */
  readonly onError: (error: unknown) => void;
  readonly wait?: Wait;
}

export interface JsonlStreamReceiver extends Component {
  /** Resolves when the stream has ended and everything in it is stored, or after `shutdown`. */
  readonly finished: Promise<void>;
  readonly tally: JsonlTally;
}

/** Reads events, one per line, from a stream. They count as old evidence (S1): nobody knows how long they lay there. */
export function createJsonlStreamReceiver(options: JsonlStreamOptions): JsonlStreamReceiver {
  const { intake, stream, maxLineBytes, onError } = options;
  const stop = new AbortController();
  const submission = new JsonlSubmission({
    intake,
    receiver: options.receiver ?? "jsonl_stdin",
    backfill: true,
    ...(maxLineBytes === undefined ? undefined : { maxLineBytes }),
    onRefusal: patientlyRetrying(options.wait ?? SYSTEM_WAIT, stop.signal),
    leavesOutHopeless: true,
  });
  let finish: () => void = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let started = false;

  async function read(): Promise<void> {
    try {
      // A stream that its host has given an encoding yields text.
      for await (const chunk of stream as AsyncIterable<Uint8Array | string>) {
        await submission.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
      }
      await submission.end();
    } catch (error) {
      if (!stop.signal.aborted) onError(error);
      await submission.settle().catch(() => {});
    } finally {
      finish();
    }
  }

  return {
    finished,
    get tally() {
      return submission.tally;
    },
    start: async () => {
      if (stop.signal.aborted) return;
      started = true;
      void read();
    },
    shutdown: async () => {
      stop.abort();
      stream.destroy();
      if (started) await finished;
      else finish();
    },
  };
}
