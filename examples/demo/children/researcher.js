// Completes.
import { setTimeout as delay } from "node:timers/promises";
import { begin } from "./begin.js";

const { lifecycle, child } = begin("researcher");
child.starting();
await delay(300);
child.running();
for (const page of [1, 2, 3]) {
  child.activity(`reading page ${page} of 3`, { tool: "browser" });
  await delay(700);
}
child.completed({ resultRef: "notes/summary.md" });
await lifecycle.shutdown();
