import { onTestFinished } from "vitest";
import { type BrowserPage, launchBrowser } from "./browser-process.ts";
import { temporaryDirectory } from "./event-file.ts";

export { type BrowserPage, hasBrowser, type Screen } from "./browser-process.ts";

/** Starts a Chromium with a profile of its own; both are gone when the test is. @throws Error when there is none. */
export async function startBrowser(): Promise<BrowserPage> {
  const { page, close } = await launchBrowser(temporaryDirectory());
  onTestFinished(close);
  return page;
}
