import { appendFile, readdir, rename, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFilePositions, createJsonlFileReceiver, type FilePositions } from "@agent-lifecycle/collector/parts";
import { canonicalEvent } from "@agent-lifecycle/proto";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { temporaryDirectory } from "../../kit/event-file.ts";
import { makeEvent } from "../../kit/events.ts";
import { ScriptedIntake } from "./scripted-intake.ts";

const line = (sequence: number): string => `${canonicalEvent(makeEvent({ sequence, at: sequence }))}\n`;

const atOnce = (_ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else setImmediate(resolve);
  });

interface Following {
  readonly path: string;
  /** The sequences that one run of the receiver stores, once these have come. */
  run(expected: readonly number[]): Promise<readonly unknown[]>;
}

function following(lastInputId: () => number = () => 100): Following {
  const folder = temporaryDirectory();
  const path = join(folder, "events.jsonl");
  const positions = createFilePositions(join(folder, "positions"), lastInputId);
  return { path, run: (expected) => runOnce(path, positions, expected) };
}

async function runOnce(
  path: string,
  positions: FilePositions,
  expected: readonly number[],
): Promise<readonly unknown[]> {
  const intake = new ScriptedIntake();
  const receiver = createJsonlFileReceiver({
    intake,
    path,
    positions,
    wait: atOnce,
    onError: (error) => {
      throw error;
    },
  });
  onTestFinished(() => receiver.shutdown());
  await receiver.start();
  const sequences = (): readonly unknown[] =>
    intake.candidates.map((candidate) => (candidate as { readonly sequence: number }).sequence);
  await vi.waitFor(() => expect(sequences()).toEqual(expected));
  // What it would read beside that, it would read now.
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  await receiver.shutdown();
  return sequences();
}

describe("a followed file, after a restart", () => {
  it("is read on where everything was stored", async () => {
    const { path, run } = following();
    await writeFile(path, line(1) + line(2));
    await run([1, 2]);
    await appendFile(path, line(3));
    expect(await run([3])).toEqual([3]);
    expect(await run([])).toEqual([]);
  });

  it("is read on at the beginning of a line that was not whole", async () => {
    const { path, run } = following();
    await writeFile(path, line(1) + line(2).slice(0, 40));
    await run([1]);
    await appendFile(path, line(2).slice(40) + line(3));
    expect(await run([2, 3])).toEqual([2, 3]);
  });

  it("that was moved away meanwhile is read to its end, and then its successor", async () => {
    const { path, run } = following();
    await writeFile(path, line(1));
    await run([1]);
    await appendFile(path, line(2));
    await rename(path, `${path}.1`);
    await writeFile(path, line(3));
    expect(await run([2, 3])).toEqual([2, 3]);
    await appendFile(path, line(4));
    expect(await run([4])).toEqual([4]);
  });

  it("that was moved away twice is read with everything that came between", async () => {
    const { path, run } = following();
    await writeFile(path, line(1));
    await run([1]);
    await appendFile(path, line(2));
    await rename(path, `${path}.2`);
    await utimes(`${path}.2`, new Date(0), new Date(0));
    await writeFile(`${path}.1`, line(3));
    // Neither a rotated file nor one of this name.
    await writeFile(`${path}.verified`, line(9));
    await writeFile(`${path}.broken-2026`, line(9));
    await writeFile(path, line(4));
    expect(await run([2, 3, 4])).toEqual([2, 3, 4]);
  });

  it("that was cut is read from its beginning", async () => {
    const { path, run } = following();
    await writeFile(path, line(1) + line(2));
    await run([1, 2]);
    await truncate(path, 0);
    await appendFile(path, line(3));
    expect(await run([3])).toEqual([3]);
  });

  it("that was cut and has grown beyond the position is read from its beginning", async () => {
    const { path, run } = following();
    await writeFile(path, line(1));
    await run([1]);
    await truncate(path, 0);
    await appendFile(path, line(2) + line(3) + line(4));
    expect(await run([2, 3, 4])).toEqual([2, 3, 4]);
  });

  it("is read again when the database knows less than the position says", async () => {
    let lastInputId = 100;
    const { path, run } = following(() => lastInputId);
    await writeFile(path, line(1));
    await run([1]);
    lastInputId = 99;
    expect(await run([1])).toEqual([1]);
  });

  it("is read again when the position is damaged, and a whole one is kept then", async () => {
    const { path, run } = following();
    await writeFile(path, line(1));
    await run([1]);
    const folder = join(path, "../positions");
    const [name = ""] = await readdir(folder);
    await writeFile(join(folder, name), '{"inode":');
    expect(await run([1])).toEqual([1]);
    expect(await run([])).toEqual([]);
  });
});
