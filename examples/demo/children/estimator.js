// The grandchild: its parent's identity comes as an argument.
import { setTimeout as delay } from "node:timers/promises";
import { begin } from "./begin.js";

const parent = { childId: process.argv[2], rootChildId: process.argv[2] };
const { lifecycle, child } = begin("estimator", { parent });
child.starting();
child.running();
child.activity("estimating three tasks");
await delay(1_500);
child.completed();
await lifecycle.shutdown();
