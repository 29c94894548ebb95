import { appendFile, mkdir, mkdtemp, rename, rm, rmdir, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import {
  createJsonlFileReceiver,
  createJsonlStreamReceiver,
  type JsonlFileReceiver,
} from "@agent-lifecycle/collector/parts";
import { canonicalEvent } from "@agent-lifecycle/proto";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { makeEvent } from "../../kit/events.ts";
import { ScriptedIntake } from "./scripted-intake.ts";

const line = (sequence: number): string => `${canonicalEvent(makeEvent({ sequence, at: sequence }))}\n`;

function sequencesOf(intake: ScriptedIntake): readonly unknown[] {
  return intake.candidates.map((candidate) => (candidate as { readonly sequence: number }).sequence);
}

/** Waits are over as soon as anything else is done: a test never waits for a clock. */
const atOnce = (_ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else setImmediate(resolve);
  });

const never = (error: unknown): void => {
  throw error;
};

describe("a stream of lines", () => {
  it("stores all of it as old evidence, and its end says nothing", async () => {
    const intake = new ScriptedIntake();
    const stream = Readable.from([line(1), `${line(2)}broken\n`, line(3).trimEnd()]);
    const receiver = createJsonlStreamReceiver({ intake, stream, onError: never });
    await receiver.start();
    await receiver.finished;
    expect(sequencesOf(intake)).toEqual([1, 2, 3]);
    expect(receiver.tally).toMatchObject({ accepted: 3, rejected: 1 });
    expect(intake.received.every(({ origin }) => origin.backfill && origin.receiver === "jsonl_stdin")).toBe(true);
    await receiver.shutdown();
  });

  it("makes its source wait while the intake is overloaded, and loses nothing", async () => {
    const intake = new ScriptedIntake();
    intake.refusals.push(
      { kind: "overloaded", retryAfterSeconds: 1 },
      { kind: "unavailable", retryable: true, reason: "" },
      undefined,
      { kind: "overloaded", retryAfterSeconds: 1 },
    );
    const waits: number[] = [];
    const wait = async (ms: number): Promise<void> => void waits.push(ms);
    const stream = Readable.from([line(1), line(2), line(3)]);
    const receiver = createJsonlStreamReceiver({ intake, stream, onError: never, wait });
    await receiver.start();
    await receiver.finished;
    expect(sequencesOf(intake)).toEqual([1, 2, 3]);
    expect(waits).toEqual([1_000, 1_000, 1_000]);
  });

  it("leaves out the one line that can never be stored, says so, and stores its neighbours", async () => {
    const intake = new ScriptedIntake();
    const hopeless = { kind: "unavailable", retryable: false, reason: "" } as const;
    // The batch of four, its second half, and of that the first line.
    intake.refusals.push(hopeless, undefined, hopeless, hopeless);
    const stream = Readable.from([`${line(1)}${line(2)}${line(3)}${line(4)}`]);
    const receiver = createJsonlStreamReceiver({ intake, stream, onError: never });
    await receiver.start();
    await receiver.finished;
    expect(sequencesOf(intake)).toEqual([1, 2, 4]);
    expect(receiver.tally).toMatchObject({
      accepted: 3,
      rejected: 1,
      diagnostics: [{ line: 3, code: "invalid_event" }],
    });
  });

  it("reads no more than it can pass on", async () => {
    const intake = new ScriptedIntake();
    let open: () => void = () => {};
    intake.gate = new Promise((resolve) => {
      open = resolve;
    });
    let taken = 0;
    const stream = Readable.from(
      (function* () {
        for (let chunk = 0; chunk < 200; chunk += 1) {
          taken = chunk;
          yield Buffer.from(line(chunk).repeat(100));
        }
      })(),
    );
    const receiver = createJsonlStreamReceiver({ intake, stream, onError: never });
    await receiver.start();
    for (let turn = 0; turn < 500; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    // One batch of 1,000 waits for the store, the next is gathered, and the stream itself holds some objects ready.
    expect(taken).toBeLessThan(60);
    open();
    await receiver.finished;
    expect(intake.candidates).toHaveLength(20_000);
  });

  it("is safe to shut down without a start, twice, and while it waits", async () => {
    const intake = new ScriptedIntake();
    const idle = createJsonlStreamReceiver({ intake, stream: new PassThrough(), onError: never });
    await idle.shutdown();
    await idle.shutdown();
    await idle.finished;

    const stream = new PassThrough();
    const running = createJsonlStreamReceiver({ intake, stream, onError: never });
    await running.start();
    stream.write(line(1));
    await vi.waitFor(() => expect(intake.candidates).toHaveLength(1));
    await Promise.all([running.shutdown(), running.shutdown()]);
    expect(stream.destroyed).toBe(true);
  });

  it("gives up waiting for an overloaded intake when it is shut down", async () => {
    const intake = new ScriptedIntake();
    intake.refusals.push(
      ...Array.from({ length: 1_000 }, () => ({ kind: "overloaded", retryAfterSeconds: 60 }) as const),
    );
    const stream = new PassThrough();
    const receiver = createJsonlStreamReceiver({ intake, stream, onError: never });
    await receiver.start();
    stream.write(line(1));
    await vi.waitFor(() => expect(intake.refusals.length).toBeLessThan(1_000));
    await receiver.shutdown();
    expect(intake.received).toEqual([]);
  });

  it("tells of a stream that fails, and keeps what came before", async () => {
    const intake = new ScriptedIntake();
    const faults: unknown[] = [];
    const fault = new Error("broken pipe");
    const stream = Readable.from(
      (async function* () {
        yield line(1);
        await Promise.resolve();
        throw fault;
      })(),
    );
    const receiver = createJsonlStreamReceiver({ intake, stream, onError: (error) => faults.push(error) });
    await receiver.start();
    await receiver.finished;
    expect(sequencesOf(intake)).toEqual([1]);
    expect(faults).toEqual([fault]);
  });
});

describe("a file of lines", () => {
  async function follow(path: string, intake: ScriptedIntake, onError: (error: unknown) => void = never) {
    const receiver: JsonlFileReceiver = createJsonlFileReceiver({ intake, path, onError, wait: atOnce });
    await receiver.start();
    onTestFinished(() => receiver.shutdown());
    return receiver;
  }

  async function folder(): Promise<string> {
    const path = await mkdtemp(join(tmpdir(), "agent-lifecycle-"));
    onTestFinished(() => rm(path, { recursive: true }));
    return path;
  }

  const until = (intake: ScriptedIntake, sequences: readonly number[]): Promise<void> =>
    vi.waitFor(() => expect(sequencesOf(intake)).toEqual(sequences));

  it("is read from its beginning and followed as it grows, also in the middle of a line", async () => {
    const intake = new ScriptedIntake();
    const path = join(await folder(), "events.jsonl");
    await writeFile(path, line(1));
    await follow(path, intake);
    await until(intake, [1]);
    const [half, rest] = [line(2).slice(0, 50), line(2).slice(50)];
    await appendFile(path, half);
    await appendFile(path, rest + line(3));
    await until(intake, [1, 2, 3]);
    expect(intake.received.every(({ origin }) => origin.backfill && origin.receiver === "jsonl_file")).toBe(true);
    expect(intake.problems).toEqual([]);
  });

  it("is waited for while it does not exist", async () => {
    const intake = new ScriptedIntake();
    const path = join(await folder(), "events.jsonl");
    await follow(path, intake);
    await writeFile(path, line(1));
    await until(intake, [1]);
  });

  it("is read anew when it is replaced, after what was left in the old one", async () => {
    const intake = new ScriptedIntake();
    const path = join(await folder(), "events.jsonl");
    await writeFile(path, line(1));
    await follow(path, intake);
    await until(intake, [1]);
    await rename(path, `${path}.1`);
    await appendFile(`${path}.1`, line(2));
    await until(intake, [1, 2]);
    await writeFile(path, line(3));
    await until(intake, [1, 2, 3]);
  });

  it("is read anew when it is truncated", async () => {
    const intake = new ScriptedIntake();
    const path = join(await folder(), "events.jsonl");
    await writeFile(path, line(1) + line(2));
    await follow(path, intake);
    await until(intake, [1, 2]);
    await truncate(path, 0);
    await until(intake, [1, 2]);
    await appendFile(path, line(3));
    await until(intake, [1, 2, 3]);
  });

  it("that cannot be read is told once, and followed when it can be", async () => {
    const intake = new ScriptedIntake();
    const faults: unknown[] = [];
    const base = await folder();
    const path = join(base, "events.jsonl");
    await follow(path, intake, (error) => faults.push(error));
    await mkdir(path);
    await vi.waitFor(() => expect(faults).toHaveLength(1));
    await rmdir(path);
    await writeFile(path, line(1));
    await until(intake, [1]);
    expect(faults).toHaveLength(1);
  });

  it("that is none at the start, but a folder or a device, is refused at once", async () => {
    const intake = new ScriptedIntake();
    for (const path of [await folder(), "/dev/zero"]) {
      const receiver = createJsonlFileReceiver({ intake, path, onError: never, wait: atOnce });
      await expect(receiver.start()).rejects.toThrow(`${path} is no regular file`);
      await receiver.shutdown();
    }
  });

  it("stores what it has read before a shutdown ends, and reads nothing after it", async () => {
    const intake = new ScriptedIntake();
    const path = join(await folder(), "events.jsonl");
    await writeFile(path, line(1));
    const receiver = await follow(path, intake);
    await until(intake, [1]);
    await receiver.shutdown();
    await receiver.shutdown();
    await appendFile(path, line(2));
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(sequencesOf(intake)).toEqual([1]);
  });
});
