import type { ReceiverContext } from "@agent-lifecycle/collector";
import { createHermesReceiver } from "@agent-lifecycle/collector/parts";
import type { ReceiverUnderTest } from "@agent-lifecycle/collector/testing";
import { describe, vi } from "vitest";
import { describeReceiver } from "../../../kit/component-suite.ts";
import { GATEWAY_0_19, GATEWAY_0_20_6, type GatewayBuild } from "../../../kit/hermes/gateway-build.ts";
import { GatewayDouble } from "../../../kit/hermes/gateway-double.ts";

const SESSION = "s1";

/** The contract counts what was sent; that a look says who runs besides is another matter. */
const acceptSnapshot: ReceiverContext["intake"]["acceptSnapshot"] = async () => ({
  kind: "stored",
  status: "applied",
  diagnostics: [],
  corrected: 0,
  stale: [],
});

describe.each<[string, GatewayBuild]>([
  ["that keeps its frames", GATEWAY_0_20_6],
  ["that only sends them", GATEWAY_0_19],
])("the receiver of a gateway %s", (_name, build) => {
  describeReceiver("keeps to the contract", {
    create: async ({ context }): Promise<ReceiverUnderTest> => {
      const gateway = new GatewayDouble(build);
      gateway.openSession(SESSION);
      const component = createHermesReceiver(
        { ...context, intake: { ...context.intake, acceptSnapshot } },
        { source: "hermes", transport: { kind: "websocket", url: "ws://127.0.0.1:9119/api/ws" }, pollIntervalMs: 10 },
        { open: gateway.open },
      );
      const send = async (): Promise<void> => {
        // Nobody hears what is sent before the first connection.
        if (gateway.connections === 0) await vi.waitUntil(() => gateway.connections > 0, { interval: 1 });
        const payload = { subagent_id: "sa-0-a", goal: "work" };
        gateway.push(gateway.emit(SESSION, "subagent.spawn_requested", payload));
      };
      return { component, send };
    },
  });
});
