// Fails.
import { setTimeout as delay } from "node:timers/promises";
import { begin } from "./begin.js";

const { lifecycle, child } = begin("coder");
child.starting();
child.running();
child.activity("running the tests", { tool: "shell" });
await delay(1_800);
child.failed("tests_failed", { exitCode: 3 });
await lifecycle.shutdown();
process.exitCode = 3;
