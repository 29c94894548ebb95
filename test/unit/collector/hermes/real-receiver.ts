import { tmpdir } from "node:os";
import { createHermesReceiver, type HermesOptions, type HermesReceiver } from "@agent-lifecycle/collector/parts";
import { onTestFinished } from "vitest";
import { FoldingIntake } from "./folding-intake.ts";

/** The receiver as it is shipped, on a real link and real time. */
export async function receive(
  transport: HermesOptions["transport"],
  options: Partial<HermesOptions> = {},
): Promise<{ readonly receiver: HermesReceiver; readonly intake: FoldingIntake; readonly logged: object[] }> {
  const intake = new FoldingIntake(Date.now);
  const logged: object[] = [];
  const write = (members: object, text: string): void => {
    logged.push({ ...members, text });
  };
  const receiver = createHermesReceiver(
    {
      id: "hermes/test",
      folder: tmpdir(),
      clock: { wallNow: Date.now, monotonicNow: () => performance.now() },
      intake,
      log: { info: write, error: write },
    },
    { source: "hermes", transport, pollIntervalMs: 20, ...options },
  );
  onTestFinished(() => receiver.shutdown());
  await receiver.start();
  return { receiver, intake, logged };
}
