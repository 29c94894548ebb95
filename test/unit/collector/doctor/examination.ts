import { join } from "node:path";
import { type Clock, resolveConfiguration } from "@agent-lifecycle/collector";
import { type ExaminationOptions, examine, type Finding } from "@agent-lifecycle/collector/parts";
import { temporaryDirectory } from "../../../kit/event-file.ts";

export type StatedConfiguration = NonNullable<Parameters<typeof resolveConfiguration>[0]>;

/** Servers that stand in nobody's way. */
const FREE_PORTS: StatedConfiguration = {
  receivers: { otlp: { protocols: { http: { endpoint: { port: 0 } }, grpc: { endpoint: { port: 0 } } } } },
  api: { endpoint: { port: 0 } },
};

export const NOW: number = Date.UTC(2026, 11, 1);

/** Both clocks go on by what is waited for. */
class WaitedClock implements Clock {
  #elapsedMs = 0;

  wallNow(): number {
    return NOW + this.#elapsedMs;
  }

  monotonicNow(): number {
    return this.#elapsedMs;
  }

  async wait(ms: number): Promise<void> {
    this.#elapsedMs += ms;
  }
}

/** Examines a configuration that is in good order but for what a test states. */
export async function examined(
  stated: StatedConfiguration = {},
  options: Partial<ExaminationOptions> = {},
): Promise<readonly Finding[]> {
  const storage = { path: join(temporaryDirectory(), "collector.db"), ...stated.storage };
  const clock = new WaitedClock();
  return examine({
    ...resolveConfiguration({ ...FREE_PORTS, ...stated, storage }),
    warnings: [],
    folder: temporaryDirectory(),
    nodeVersion: process.versions.node,
    clock,
    wait: (ms) => clock.wait(ms),
    ...options,
  });
}

/** What is not as it should be. */
export function faultsIn(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(({ level }) => level !== "ok");
}

export async function faultsOf(...stated: Parameters<typeof examined>): Promise<readonly Finding[]> {
  return faultsIn(await examined(...stated));
}
