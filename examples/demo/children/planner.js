// Delegates to a grandchild in another process.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { begin } from "./begin.js";

const { lifecycle, child } = begin("planner");
child.starting();
child.running();
child.activity("asking the estimator");
const estimator = spawn(process.execPath, [join(import.meta.dirname, "estimator.js"), child.childId], {
  stdio: ["ignore", "ignore", "inherit"],
});
child.waiting({ kind: "child", childId: "estimator" });
await once(estimator, "exit");
child.running();
child.completed();
await lifecycle.shutdown();
