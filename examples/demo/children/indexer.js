// Is killed without a chance to say anything: it goes silent, then stale, then lost.
import { begin } from "./begin.js";

const { lifecycle, child } = begin("indexer");
child.starting();
child.running();
child.activity("indexing the repository");
await lifecycle.flush();
process.stdout.write("indexing\n");
setInterval(() => {}, 1_000);
