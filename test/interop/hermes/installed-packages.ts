import type { TestProject } from "vitest/node";
import { HERMES_PACKAGES, type Installation, installHermes, titleOf } from "./installation.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** By the package's title. */
    installations: Readonly<Record<string, Installation>>;
  }
}

/** Installs every package once, before the tests that want them. */
export default async function setup(project: TestProject): Promise<void> {
  const installed = await Promise.all(
    HERMES_PACKAGES.map(async (build) => [titleOf(build), await installHermes(build)] as const),
  );
  for (const [title, installation] of installed) {
    if (!installation.isThere) console.warn(`${title}: not run: ${installation.reason}`);
  }
  project.provide("installations", Object.fromEntries(installed));
}
