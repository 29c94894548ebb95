import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Hosts in other languages need their own tools, and packages from elsewhere: they are no part of the usual tests. */
export default defineConfig({
  root: fileURLToPath(new URL("../../..", import.meta.url)),
  resolve: { conditions: ["@agent-lifecycle/source"] },
  ssr: { resolve: { conditions: ["@agent-lifecycle/source"] } },
  test: {
    include: ["test/interop/sdks/*.interop.ts"],
    testTimeout: 30_000,
    // The first run fetches and compiles what the hosts are made of.
    hookTimeout: 600_000,
  },
});
