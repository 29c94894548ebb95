import { watch } from "node:fs";
import { open } from "node:fs/promises";
import { createServer } from "node:net";
import type { Component, ReceiverIntake } from "@agent-lifecycle/collector";
import { expectNothingLeftOpen, receiverContract } from "@agent-lifecycle/collector/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../../../kit/event-file.ts";

/** Long enough for whatever ends by itself in these tests. */
const SETTLE_MS = 50;

describe("what is left open is found:", () => {
  test("a timer, though it keeps no process alive", async () => {
    const work = async (): Promise<void> => {
      const timer = setInterval(() => {}, 10_000).unref();
      onTestFinished(() => clearInterval(timer));
    };
    await expect(expectNothingLeftOpen(work, SETTLE_MS)).rejects.toThrow("left open after shutdown: a timer");
  });

  test("a timer that sets the next one, whenever it is looked at", async () => {
    const timers = { isOver: false };
    const work = async (): Promise<void> => {
      const next = (): void => {
        if (!timers.isOver) setTimeout(next, 1);
      };
      next();
      onTestFinished(() => {
        timers.isOver = true;
      });
    };
    await expect(expectNothingLeftOpen(work, SETTLE_MS)).rejects.toThrow("a timer");
  });

  test("a socket that listens", async () => {
    const server = createServer();
    onTestFinished(() => void server.close());
    const work = (): Promise<void> => new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    await expect(expectNothingLeftOpen(work, SETTLE_MS)).rejects.toThrow("TCPServerWrap");
  });

  test("a watcher of files", async () => {
    const folder = temporaryDirectory();
    const work = async (): Promise<void> => {
      const watcher = watch(folder);
      onTestFinished(() => watcher.close());
    };
    await expect(expectNothingLeftOpen(work, SETTLE_MS)).rejects.toThrow("FSEventWrap");
  });

  test.skipIf(process.platform !== "linux")("a file", async () => {
    const path = `${temporaryDirectory()}/file`;
    const work = async (): Promise<void> => {
      const file = await open(path, "w");
      onTestFinished(() => file.close());
    };
    await expect(expectNothingLeftOpen(work, SETTLE_MS)).rejects.toThrow(path);
  });

  test("and nothing is, where all was let go", async () => {
    const path = `${temporaryDirectory()}/file`;
    await expectNothingLeftOpen(async () => {
      clearInterval(setInterval(() => {}, 10_000));
      await (await open(path, "w")).close();
    });
  });
});

interface Behaviour {
  onStart?(intake: ReceiverIntake): Promise<void>;
  onSend?(intake: ReceiverIntake): Promise<void>;
  onShutdown?(pending: Promise<unknown>, shutdowns: number): Promise<void>;
}

/** A receiver whose senders are function calls, and which keeps the contract but for what a test says. */
function rulesOf({ onStart, onSend, onShutdown }: Behaviour): Readonly<Record<string, () => Promise<void>>> {
  const rules = receiverContract({
    create: async ({ context: { intake } }) => {
      let isOpen = false;
      let shutdowns = 0;
      let pending: Promise<unknown> = Promise.resolve();
      const component: Component = {
        start: async () => {
          isOpen = true;
          await onStart?.(intake);
        },
        shutdown: async () => {
          isOpen = false;
          shutdowns += 1;
          await (onShutdown?.(pending, shutdowns) ?? pending);
        },
      };
      const accept = (): Promise<unknown> => intake.acceptEvents([{}], { backfill: false, bytes: 2 });
      return {
        component,
        send: async () => {
          if (onSend !== undefined) return onSend(intake);
          if (isOpen) pending = accept();
        },
      };
    },
  });
  return Object.fromEntries(rules.map(({ name, run }) => [name, run]));
}

describe("a receiver that breaks its contract fails the rule:", () => {
  const always = async (intake: ReceiverIntake): Promise<void> => {
    await intake.acceptEvents([{}], { backfill: false, bytes: 2 });
  };

  test.each<[string, Behaviour, string]>([
    [
      "is shut down twice, also at one time",
      {
        onShutdown: async (_pending, shutdowns) =>
          shutdowns > 1 ? Promise.reject(new Error("not running")) : undefined,
      },
      "not running",
    ],
    ["is shut down without having been started", { onShutdown: () => Promise.reject(new Error("no file")) }, "no file"],
    [
      "passes on what it took before its shutdown resolves",
      { onShutdown: async () => {} },
      "shutdown resolved before the event was stored",
    ],
    ["passes on nothing after its shutdown", { onSend: always }, "called the intake after its shutdown"],
    [
      "takes events once its start has resolved",
      { onStart: always },
      "one event was sent, and one is to be handed over",
    ],
  ])("%s", async (name, behaviour, message) => {
    const rule = rulesOf(behaviour)[name];
    if (rule === undefined) throw new Error(`there is no rule: ${name}`);
    await expect(rule()).rejects.toThrow(message);
  });

  test("and one that keeps it fails none", async () => {
    for (const run of Object.values(rulesOf({}))) await run();
  });
});
