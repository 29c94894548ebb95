import { createLifecycle, type Lifecycle, type LifecycleOptions, type SdkDiagnostic } from "@agent-lifecycle/sdk";
import { onTestFinished } from "vitest";

export interface Running {
  readonly lifecycle: Lifecycle;
  readonly diagnostics: readonly SdkDiagnostic[];
}

/** A lifecycle without exit hooks and heartbeats, shut down after the test. */
export function start(options: Partial<LifecycleOptions>, environment: Readonly<Record<string, string>> = {}): Running {
  const diagnostics: SdkDiagnostic[] = [];
  const lifecycle = createLifecycle(
    {
      source: "e2e",
      exitHooks: false,
      heartbeatIntervalMs: 0,
      onDiagnostic: (each) => diagnostics.push(each),
      ...options,
    },
    // The back-off is 400 ms for the first retry then, whatever chance says.
    { environment, random: () => 1 },
  );
  onTestFinished(async () => {
    await lifecycle.shutdown({ timeoutMs: 0 });
  });
  return { lifecycle, diagnostics };
}

/** One child's short life; its events carry `STATES`. */
export function emitSome(lifecycle: Lifecycle): void {
  const child = lifecycle.child();
  child.starting();
  child.running();
  child.activity("works", { tool: "bash" });
  child.completed();
}

export const STATES: readonly (string | undefined)[] = ["created", "starting", "running", undefined, "completed"];
