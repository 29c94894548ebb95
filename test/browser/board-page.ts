import type { Collector } from "@agent-lifecycle/collector";
import { type BrowserPage, type Screen, startBrowser } from "../kit/browser.ts";

export const DESK: Screen = { width: 1280, height: 800 };
export const TELEPHONE: Screen = { width: 375, height: 720 };

const CONNECTION = `document.querySelector("#connection")?.dataset.connection`;
export const IS_LIVE = `${CONNECTION} === "live"`;
export const IS_INTERRUPTED = `${CONNECTION} === "interrupted"`;

/** A browser that looks at a collector's board. */
export interface BoardPage extends BrowserPage {
  /** Opens a look, as its address says it: `?view=tree`, and waits until it is live. */
  look(search: string): Promise<void>;
  /** Everything that can be read on the page, as its user reads it. */
  text(): Promise<string>;
  /** Whether a text is on the page becomes so. */
  shows(text: string): Promise<void>;
}

export async function openBoard({ apiUrl }: Pick<Collector, "apiUrl">, search = "", screen = DESK): Promise<BoardPage> {
  const page = await startBrowser();
  await page.emulate(screen);
  const look = async (wanted: string): Promise<void> => {
    await page.open(`${apiUrl}/${wanted}`);
    await page.until(IS_LIVE);
  };
  await look(search);
  return {
    ...page,
    look,
    text: () => page.evaluate("document.body.innerText"),
    shows: (text) => page.until(`document.body.innerText.includes(${JSON.stringify(text)})`),
  };
}

/** The states of the counts' equation, as numbers: what is started, and what it is the sum of. */
export async function equationOf(page: BrowserPage): Promise<{ readonly started: number; readonly sum: number }> {
  const text = await page.evaluate<string>(`document.querySelector(".counts").innerText.replaceAll(/\\s+/g, " ")`);
  const number = (word: string): number => Number(new RegExp(`(\\d+) ${word}`).exec(text)?.[1] ?? Number.NaN);
  const terms = ["live", "completed", "failed", "cancelled", "lost"].map(number);
  return { started: number("started"), sum: terms.reduce((sum, term) => sum + term, 0) };
}
