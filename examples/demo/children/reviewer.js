// Waits on a person, and goes on.
import { once } from "node:events";
import { begin } from "./begin.js";

const { lifecycle, child } = begin("reviewer");
child.starting();
child.running();
child.activity("reading the change");
child.waiting({ kind: "user", text: "may I merge?" });
await lifecycle.flush();
process.stdout.write("may I merge?\n");
const [answer] = await once(process.stdin, "data");
child.running();
child.activity(`merging: the answer was ${String(answer).trim()}`);
child.completed();
await lifecycle.shutdown();
process.stdin.destroy();
