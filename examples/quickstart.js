import { createLifecycle } from "@agent-lifecycle/sdk";

const lifecycle = createLifecycle({ source: "my-orchestrator", endpoint: "http://127.0.0.1:4318" });

const child = lifecycle.child({ details: { name: "researcher", model: "some-model" } });
child.starting();
child.running();
child.activity("reading page 3", { tool: "browser" });
child.waiting({ kind: "user", text: "may I buy it?" });
child.running();
child.completed();
await lifecycle.shutdown();
console.log(lifecycle.counters());
