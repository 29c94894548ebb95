import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createWatermarkFile } from "@agent-lifecycle/collector/parts";
import { expect, onTestFinished, test } from "vitest";

async function path(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "hermes-watermarks-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, "state", "hermes.json");
}

const RECORD = { epoch: "e1", sessions: { s1: { lastSeen: 7, restarts: 0 }, s2: { lastSeen: 0, restarts: 2 } } };

test("what is saved is loaded, by another collector as well", async () => {
  const file = await path();
  await createWatermarkFile(file).save(RECORD);
  await createWatermarkFile(file).save({ ...RECORD, epoch: "e2" });
  expect(await createWatermarkFile(file).load()).toEqual({ ...RECORD, epoch: "e2" });
});

test("without a file there is nothing yet", async () => {
  expect(await createWatermarkFile(await path()).load()).toBeUndefined();
});

test.each(["", "{", "[]", '{"epoch":7,"sessions":{}}', '{"epoch":"e","sessions":[]}'])(
  "a damaged file is as good as none: %j",
  async (text) => {
    const file = await path();
    await createWatermarkFile(file).save(RECORD);
    await writeFile(file, text);
    expect(await createWatermarkFile(file).load()).toBeUndefined();
    await createWatermarkFile(file).save(RECORD);
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual(RECORD);
  },
);

test("a damaged entry costs only itself", async () => {
  const file = await path();
  await createWatermarkFile(file).save(RECORD);
  await writeFile(
    file,
    JSON.stringify({ epoch: "e", sessions: { a: { lastSeen: -1, restarts: 0 }, b: { lastSeen: 3, restarts: 0 } } }),
  );
  expect(await createWatermarkFile(file).load()).toEqual({ epoch: "e", sessions: { b: { lastSeen: 3, restarts: 0 } } });
});

test("a file that cannot be read is told", async () => {
  const file = await path();
  await expect(createWatermarkFile(join(file, "..", "..")).load()).rejects.toThrow("EISDIR");
});
