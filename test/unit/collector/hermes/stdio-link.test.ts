import type { HermesOptions } from "@agent-lifecycle/collector/parts";
import { describe, expect, test, vi } from "vitest";
import { fixture } from "../../../kit/program.ts";
import { receive } from "./real-receiver.ts";

const PROGRAM = fixture("hermes-gateway.ts");

function stdioGateway(mode: string): HermesOptions["transport"] {
  return { kind: "stdio", command: [process.execPath, PROGRAM], environment: { GATEWAY_MODE: mode } };
}

describe("a gateway that we start", () => {
  test("is spoken to over its standard streams, and ended with us", async () => {
    const { receiver, intake } = await receive(stdioGateway(""));
    await vi.waitFor(() => expect(intake.states).toEqual({ "sa-0-ä": "running" }), { timeout: 5_000 });
    expect(receiver.status).toMatchObject({ gateway: "stdio", capabilities: { terminalCause: "known" } });
    await receiver.shutdown();
    expect(receiver.status.state).toBe("stopped");
  });

  test("tells of its own sessions as it goes, with every end", async () => {
    const { intake } = await receive(stdioGateway("children"));
    await vi.waitFor(() => expect(intake.states).toEqual({ "sa-0-ä": "failed", "sa-1-b": "completed" }), {
      timeout: 10_000,
    });
    expect(intake.child("sa-0-ä")).toMatchObject({ facts: { cause: "timeout" }, terminalEvidence: "event" });
  });

  test("that ends by itself is told with its last words", async () => {
    const { receiver } = await receive(stdioGateway("die"));
    await vi.waitFor(() => expect(receiver.status.lastEnd?.kind).toBe("lost"), { timeout: 5_000 });
    expect(receiver.status.lastEnd?.text).toBe("the gateway ended with 3: RuntimeError: it broke");
  });

  test("whose last words are too long to keep is not quoted: the rest of a secret looks like none", async () => {
    const { receiver } = await receive(stdioGateway("die_at_length"));
    await vi.waitFor(() => expect(receiver.status.lastEnd?.kind).toBe("lost"), { timeout: 5_000 });
    expect(receiver.status.lastEnd?.text).toBe("the gateway ended with 3: its last line is too long to be told");
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
    await receiver.shutdown();
    expect(receiver.status.state).toBe("stopped");
  });

  test("that does not stop when it is asked to is made to", async () => {
    const { receiver, intake } = await receive(stdioGateway("stubborn"));
    await vi.waitFor(() => expect(intake.states).toEqual({ "sa-0-ä": "running" }), { timeout: 5_000 });
    await receiver.shutdown();
    expect(receiver.status.state).toBe("stopped");
  });
});
