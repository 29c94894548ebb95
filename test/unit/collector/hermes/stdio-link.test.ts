import type { HermesOptions } from "@agent-lifecycle/collector/parts";
import { describe, expect, test, vi } from "vitest";
import { receive } from "./real-receiver.ts";

/** A gateway over its standard streams: says it is ready, answers, and writes more to its standard error than a pipe holds. */
const STDIO_GATEWAY = `
const say = (frame) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...frame }) + "\\n");
process.stderr.write("noise ".repeat(50_000));
if (process.env.MODE === "parent") {
  require("node:child_process").spawn(process.execPath, ["-e", "setTimeout(() => {}, 8_000)"], { stdio: "inherit" });
}
say({ method: "event", params: { type: "gateway.ready", payload: { skin: {} } } });
let rest = "";
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\\n");
  rest = lines.pop();
  for (const line of lines) {
    const { id, method } = JSON.parse(line);
    if (process.env.MODE === "die" && method === "delegation.status") {
      process.stderr.write("\\nRuntimeError: it broke\\n", () => process.exit(3));
      return;
    }
    if (process.env.MODE === "flood") return process.stdout.write("x".repeat(100_000));
    if (method === "delegation.status") say({ id, result: { active: [{ subagent_id: "sa-0-ä", status: "running" }] } });
    else say({ id, error: { code: -32601, message: "unknown method" } });
  }
});
if (process.env.MODE === "stubborn") process.on("SIGTERM", () => {});
else process.stdin.on("end", () => process.exit(0));
`;

function stdioGateway(mode: string): HermesOptions["transport"] {
  return { kind: "stdio", command: [process.execPath, "-e", STDIO_GATEWAY], environment: { MODE: mode } };
}

describe("a gateway that we start", () => {
  test("is spoken to over its standard streams, and ended with us", async () => {
    const { receiver, intake } = await receive(stdioGateway(""));
    await vi.waitFor(() => expect(intake.states).toEqual({ "sa-0-ä": "running" }), { timeout: 5_000 });
    expect(receiver.status).toMatchObject({ gateway: "stdio", capabilities: { terminalCause: "known" } });
    await receiver.shutdown();
    expect(receiver.status.state).toBe("stopped");
  });

  test("that ends by itself is told with its last words", async () => {
    const { receiver } = await receive(stdioGateway("die"));
    await vi.waitFor(() => expect(receiver.status.lastEnd?.kind).toBe("lost"), { timeout: 5_000 });
    expect(receiver.status.lastEnd?.text).toBe("the gateway ended with 3: RuntimeError: it broke");
  });

  test("that writes a line without an end is stopped", async () => {
    const { receiver } = await receive(stdioGateway("flood"), { maxFrameBytes: 50_000 });
    await vi.waitFor(() => expect(receiver.status.lastEnd?.kind).toBe("oversize"), { timeout: 5_000 });
  });

  test("that is no program is told", async () => {
    const { receiver } = await receive({ kind: "stdio", command: ["no-such-program-here"] });
    await vi.waitFor(() =>
      expect(receiver.status.lastEnd).toMatchObject({ kind: "unreachable", text: "no-such-program-here: ENOENT" }),
    );
    await receiver.shutdown();
  });

  test("whose own children hold its streams open is gone when it is gone", async () => {
    const { receiver, intake } = await receive(stdioGateway("parent"));
    await vi.waitFor(() => expect(intake.states).toEqual({ "sa-0-ä": "running" }), { timeout: 5_000 });
    const began = performance.now();
    await receiver.shutdown();
    expect(performance.now() - began).toBeLessThan(4_000);
  });

  test("that does not stop when it is asked to is made to", async () => {
    const { receiver, intake } = await receive(stdioGateway("stubborn"));
    await vi.waitFor(() => expect(intake.states).toEqual({ "sa-0-ä": "running" }), { timeout: 5_000 });
    await receiver.shutdown();
    expect(receiver.status.state).toBe("stopped");
  });
});
