import { join } from "node:path";
import type { LifecycleEvent } from "@agent-lifecycle/proto";
import { createLifecycle, type Lifecycle, type LifecycleOptions, type SdkDiagnostic } from "@agent-lifecycle/sdk";
import { onTestFinished } from "vitest";
import { readEvents, temporaryDirectory } from "../../kit/event-file.ts";
import { ManualSdkClock } from "../../kit/manual-sdk-clock.ts";

export interface WrittenLifecycle {
  readonly lifecycle: Lifecycle;
  readonly clock: ManualSdkClock;
  readonly diagnostics: readonly SdkDiagnostic[];
  /** Everything emitted so far, read back from the JSONL file. */
  events(): Promise<readonly LifecycleEvent[]>;
}

/** A lifecycle that writes to a real file, with the time in the test's hands and ids that count: `id-1`, `id-2`. */
export function writtenLifecycle(options: Partial<LifecycleOptions> = {}): WrittenLifecycle {
  const path = join(temporaryDirectory(), "events.jsonl");
  const clock = new ManualSdkClock();
  const diagnostics: SdkDiagnostic[] = [];
  let ids = 0;
  const lifecycle = createLifecycle(
    {
      source: "unit",
      sourceEpoch: "epoch-1",
      jsonl: { path },
      exitHooks: false,
      onDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
      ...options,
    },
    { clock, createId: () => `id-${++ids}`, environment: {} },
  );
  onTestFinished(async () => {
    await lifecycle.shutdown();
  });
  return {
    lifecycle,
    clock,
    diagnostics,
    events: async () => {
      await lifecycle.flush();
      return readEvents(path);
    },
  };
}
