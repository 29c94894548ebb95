import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * The page, and the custom element for pages of others. Both hold everything they need: nothing is loaded from elsewhere,
 * and nothing is inlined into the page, whose policy lets neither scripts nor styles in.
 */
export default defineConfig(({ mode }) => ({
  root: here("."),
  base: "/",
  logLevel: "warn",
  publicDir: mode === "element" ? false : "public",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2023",
    outDir: here(mode === "element" ? "../dist/board-element" : "../dist/board"),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    ...(mode === "element"
      ? { lib: { entry: here("element.tsx"), formats: ["es"], fileName: "agent-lifecycle-board" } }
      : undefined),
  },
}));
