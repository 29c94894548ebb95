import { mkdir, writeFile } from "node:fs/promises";
import { test } from "vitest";
import { hasBrowser } from "../kit/browser.ts";
import { DESK, openBoard, TELEPHONE } from "./board-page.ts";
import { startScene } from "./board-scene.ts";

const FOLDER = new URL("../../docs/images/", import.meta.url);
/** Set to draw the pictures of the documentation anew. */
const isWanted = process.env["BOARD_SCREENSHOTS"] !== undefined;

const PICTURES = [
  ["board-now", "", DESK],
  ["board-tree", "?view=tree", DESK],
  ["board-timeline", "?view=timeline", DESK],
  ["board-child", "?of=runner&child=shell", DESK],
  ["board-sources", "?view=sources", DESK],
  ["board-diagnostics", "?view=diagnostics", DESK],
  ["board-dark", "", { ...DESK, colourScheme: "dark" }],
  ["board-telephone", "", { ...TELEPHONE, colourScheme: "dark" }],
] as const;

test.skipIf(!isWanted || !hasBrowser())(
  "pictures for the documentation",
  async () => {
    const { collector } = await startScene();
    const page = await openBoard(collector);
    await mkdir(FOLDER, { recursive: true });
    for (const [name, look, screen] of PICTURES) {
      await page.emulate(screen);
      await page.look(look);
      await page.until(`document.querySelector(".grid-row.child, .timeline-row, .panel, table") !== null`);
      await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))");
      await writeFile(new URL(`${name}.png`, FOLDER), await page.screenshot());
    }
  },
  120_000,
);
