// Is cancelled: it is asked to stop, and stops.
import { begin } from "./begin.js";

const { lifecycle, child } = begin("deployer");
const busy = setInterval(() => child.activity("waiting for the rollout to settle"), 1_000);
process.once("SIGTERM", async () => {
  clearInterval(busy);
  child.cancelled({ cause: "requested" });
  await lifecycle.shutdown();
});
child.starting();
child.running();
child.activity("rolling out version 2");
await lifecycle.flush();
process.stdout.write("deploying\n");
