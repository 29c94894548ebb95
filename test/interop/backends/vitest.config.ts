import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Real back ends need their own tools, and modules from elsewhere: they are no part of the usual tests. */
export default defineConfig({
  root: fileURLToPath(new URL("../../..", import.meta.url)),
  resolve: { conditions: ["@agent-lifecycle/source"] },
  ssr: { resolve: { conditions: ["@agent-lifecycle/source"] } },
  test: {
    include: ["test/interop/backends/*.interop.ts"],
    fileParallelism: false,
    testTimeout: 300_000,
    // The first run fetches and compiles what is started.
    hookTimeout: 3_600_000,
  },
});
