import { createLifecycle } from "@agent-lifecycle/sdk";

/** One child of the demo in a process of its own; where its events go, the environment says. */
export function begin(childId, options = {}) {
  const lifecycle = createLifecycle({
    source: "demo",
    heartbeatIntervalMs: Number(process.env.DEMO_HEARTBEAT_INTERVAL_MS ?? 500),
  });
  const child = lifecycle.child({ childId, details: { pid: process.pid }, ...options });
  return { lifecycle, child };
}
