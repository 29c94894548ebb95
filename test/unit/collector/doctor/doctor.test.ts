import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../../../kit/event-file.ts";
import { moduleText } from "../plugins/module-folder.ts";
import { examined, faultsIn, faultsOf, NOW } from "./examination.ts";

/** A server of somebody else, which answers every path with the same text. */
async function listen(text: string): Promise<number> {
  const server = createServer((_request, response) => response.end(text));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe("a place in good order", () => {
  test("has no faults, and says what was looked at", async () => {
    const findings = await examined();
    // The machine that runs the tests may have little room.
    expect(faultsIn(findings).filter(({ check }) => check !== "disk")).toEqual([]);
    expect(new Set(findings.map(({ check }) => check))).toEqual(
      new Set([..."node clock configuration storage disk database writer port collector".split(" ")]),
    );
    expect(findings.filter(({ level, advice }) => level === "ok" && advice !== undefined)).toEqual([]);
  });
});

describe("node", () => {
  test.each(["22.15.0", "9.0.0"])("that is too old is a problem: %s", async (nodeVersion) => {
    const faults = await faultsOf({}, { nodeVersion });
    expect(faults).toContainEqual(expect.objectContaining({ check: "node", level: "problem" }));
  });
});

describe("a clock", () => {
  const around = (driftMs: number, wall = NOW) => {
    let waited = 0;
    return {
      clock: { wallNow: () => wall + waited + (waited > 0 ? driftMs : 0), monotonicNow: () => waited },
      wait: async (ms: number) => {
        waited += ms;
      },
    };
  };

  test.each([-60_000, -100, 100, 3_600_000])("that moves by %d ms meanwhile is a warning", async (driftMs) => {
    expect(await faultsOf({}, around(driftMs))).toContainEqual({
      check: "clock",
      level: "warning",
      text: `the clock moved by ${driftMs} ms against the monotonic one within 250 ms`,
      advice: expect.stringContaining("NTP"),
    });
  });

  test.each([-20, 20])("that is corrected a little is none: %d ms", async (driftMs) => {
    expect((await faultsOf({}, around(driftMs))).filter(({ check }) => check === "clock")).toEqual([]);
  });

  test.each([0, Date.UTC(2199, 0, 1)])("that says a year that cannot be is a problem", async (wall) => {
    expect(await faultsOf({}, around(0, wall))).toContainEqual(
      expect.objectContaining({ check: "clock", level: "problem" }),
    );
  });
});

describe("a configuration", () => {
  test("is told all that is wrong with it, a public address without tokens among it", async () => {
    const endpoint = { host: "0.0.0.0", port: 0 };
    const faults = await faultsOf({ api: { endpoint }, lifecycle: { missingGrace: 0 } });
    const found = faults.filter(({ check, level }) => check === "configuration" && level === "problem");
    const texts = found.map(({ text }) => text).join("\n");
    expect(texts).toContain("reachable by others without a token");
    expect(texts).toContain("missing_grace");
  });
});

describe("a port", () => {
  test("that another program has is a problem with its name and process", async () => {
    const port = await listen("hello");
    const faults = await faultsOf({ api: { endpoint: { port } } });
    expect(faults.filter(({ check }) => check === "port")).toEqual([
      {
        check: "port",
        level: "problem",
        text: expect.stringContaining(`API 127.0.0.1:${port} is taken by `),
        advice: expect.stringContaining("choose another port"),
      },
    ]);
  });

  test.skipIf(process.platform !== "linux")("names the process that has it", async () => {
    const port = await listen("hello");
    const [fault] = (await faultsOf({ api: { endpoint: { port } } })).filter(({ check }) => check === "port");
    expect(fault?.text).toContain(`(process ${process.pid})`);
  });

  test("of an address that this machine does not have is a problem", async () => {
    const endpoint = { host: "192.0.2.1", port: 8787 };
    const access = { insecurePublicBind: true };
    expect(await faultsOf({ api: { endpoint }, access })).toContainEqual(
      expect.objectContaining({ check: "port", level: "problem", text: expect.stringContaining("EADDRNOTAVAIL") }),
    );
  });
});

describe("a file to follow", () => {
  test("is to be there, a file, and readable", async () => {
    const folder = temporaryDirectory();
    writeFileSync(join(folder, "good"), "");
    mkdirSync(join(folder, "folder"));
    const follow = (name: string) => ({ path: join(folder, name) });
    const findings = await examined({
      receivers: {
        "jsonl_file/good": follow("good"),
        "jsonl_file/none": follow("none"),
        "jsonl_file/folder": follow("folder"),
      },
    });
    expect(findings.filter(({ check }) => check === "file").map(({ level, text }) => `${level} ${text}`)).toEqual([
      `ok ${join(folder, "good")} can be read`,
      `warning ${join(folder, "none")} is not there`,
      `problem ${join(folder, "folder")} is no regular file`,
    ]);
  });
});

describe("a module", () => {
  test("is loaded and its options checked, and nothing of it is started", async () => {
    const folder = temporaryDirectory();
    const starts = 'export const createReceiver = () => { throw new Error("was made"); };';
    writeFileSync(join(folder, "good.mjs"), `export const componentApiVersion = 1; ${starts}`);
    writeFileSync(
      join(folder, "picky.mjs"),
      moduleText('export const optionsSchema = { required: ["port"], properties: {} };'),
    );
    const findings = await examined(
      {
        receivers: { "module/good": { module: "./good.mjs" }, "module/picky": { module: "./picky.mjs" } },
        exporters: { "module/none": { module: "./none.mjs" } },
      },
      { folder },
    );
    expect(findings.filter(({ check }) => check === "module").map(({ level, text }) => `${level} ${text}`)).toEqual([
      "ok module/good loads from ./good.mjs",
      "problem receivers.module/picky.options: must have required property 'port'",
      expect.stringContaining("problem exporters.module/none.module: ./none.mjs cannot be loaded"),
    ]);
  });
});
