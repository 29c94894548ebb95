import {
  createHermesReceiver,
  type HermesOptions,
  type HermesParts,
  type HermesReceiver,
} from "@agent-lifecycle/collector/parts";
import { onTestFinished } from "vitest";
import type { GatewayDouble } from "../../../kit/hermes/gateway-double.ts";
import { FoldingIntake } from "./folding-intake.ts";
import { ManualTime } from "./manual-time.ts";

const POLL_MS = 1_000;

export interface Observation {
  readonly time: ManualTime;
  readonly intake: FoldingIntake;
  readonly receiver: HermesReceiver;
  readonly logged: readonly { readonly text: string; readonly members: object }[];
  /** Lets the receiver look `times` more times. */
  look(times?: number): Promise<void>;
}

export interface ObservationOptions {
  readonly options?: Partial<HermesOptions>;
  readonly parts?: HermesParts;
  readonly time?: ManualTime;
  readonly intake?: FoldingIntake;
}

let connections = 0;

/** The real receiver on a scripted gateway, with the real fold behind its door, past its first look. */
export async function observe(gateway: GatewayDouble, given: ObservationOptions = {}): Promise<Observation> {
  const time = given.time ?? new ManualTime();
  const intake = given.intake ?? new FoldingIntake(time.wallNow);
  const logged: { text: string; members: object }[] = [];
  const receiver = createHermesReceiver(
    {
      id: "hermes/test",
      folder: "/",
      clock: time,
      intake,
      log: {
        info: (members, text) => logged.push({ text, members }),
        error: (members, text) => logged.push({ text, members }),
      },
    },
    { source: "hermes", transport: { kind: "websocket", url: "ws://127.0.0.1:9119/api/ws" }, ...given.options },
    {
      open: gateway.open,
      schedule: time.schedule,
      wait: (ms, signal) =>
        new Promise((resolve, reject) => {
          time.schedule(resolve, ms);
          signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
        }),
      random: () => 0,
      newConnectionId: () => {
        connections += 1;
        return `connection-${connections}`;
      },
      ...given.parts,
    },
  );
  await receiver.start();
  onTestFinished(() => receiver.shutdown());
  const look = (times = 1): Promise<void> => time.advance(POLL_MS * times);
  await look(0);
  return { time, intake, receiver, logged, look };
}
