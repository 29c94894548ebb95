import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCursorFiles } from "@agent-lifecycle/collector/parts";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../../kit/event-file.ts";

describe("cursors in files", () => {
  test("of a new exporter begin at 0, and nothing is made for it yet", async () => {
    const folder = join(temporaryDirectory(), "exporters");
    expect(await createCursorFiles(folder).load("module/new")).toBe(0);
    expect(() => statSync(folder)).toThrow("ENOENT");
  });

  test("are kept apart by exporter, over a restart, for the owner's eyes only", async () => {
    const folder = join(temporaryDirectory(), "exporters");
    const cursors = createCursorFiles(folder);
    await cursors.save("module/a", 1);
    await cursors.save("module/a", 7);
    await cursors.save("module/../b", 3);
    const again = createCursorFiles(folder);
    expect(await again.load("module/a")).toBe(7);
    expect(await again.load("module/../b")).toBe(3);
    const files = readdirSync(folder);
    expect(files).toHaveLength(2);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const file of files) expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  });

  test("survive a crash while a new one was written: what lies aside is not read", async () => {
    const folder = temporaryDirectory();
    const cursors = createCursorFiles(folder);
    await cursors.save("module/a", 7);
    writeFileSync(join(folder, "module%2Fa.json.new"), '{"inputI');
    expect(await cursors.load("module/a")).toBe(7);
    await cursors.save("module/a", 8);
    expect(await cursors.load("module/a")).toBe(8);
  });

  test.each(["", "7", '{"inputId":-1}', '{"inputId":"7"}', '{"inputId":7.5}', "{"])(
    "that are damaged are told and never guessed: %s",
    async (text) => {
      const folder = temporaryDirectory();
      writeFileSync(join(folder, "module%2Fa.json"), text);
      await expect(createCursorFiles(folder).load("module/a")).rejects.toThrow(
        /cursor file .*module%2Fa\.json is damaged; remove it/,
      );
    },
  );

  test("reject when they cannot be kept", async () => {
    const folder = temporaryDirectory();
    writeFileSync(join(folder, "file"), "");
    await expect(createCursorFiles(join(folder, "file", "below")).save("module/a", 1)).rejects.toThrow();
  });
});
