import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** A real Hermes Agent needs Python and packages from elsewhere: it is no part of the usual tests. */
export default defineConfig({
  root: fileURLToPath(new URL("../../..", import.meta.url)),
  resolve: { conditions: ["@agent-lifecycle/source"] },
  ssr: { resolve: { conditions: ["@agent-lifecycle/source"] } },
  test: {
    include: ["test/interop/hermes/*.interop.ts"],
    globalSetup: ["test/interop/hermes/installed-packages.ts"],
    // Most of the time is spent on waiting: what gets no answer, what is asleep, what is silent.
    maxWorkers: 2,
    // A gateway takes its time on a busy machine. Nothing is awaited by the clock.
    testTimeout: 480_000,
  },
});
