import { defineConfig } from "vitest/config";

export default defineConfig({
  // Tests run on the sources: no test may pass against a stale build.
  resolve: { conditions: ["@agent-lifecycle/source"] },
  ssr: { resolve: { conditions: ["@agent-lifecycle/source"] } },
  test: {
    include: ["proto/src/**/*.test.ts", "sdk/src/**/*.test.ts", "collector/src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    unstubGlobals: true,
    restoreMocks: true,
  },
});
