// Observes the processes and threads that a program starts, without a change of its code:
//   node --import @agent-lifecycle/sdk/register app.js
// Everything is said by the environment: the variables of OpenTelemetry, and AGENT_LIFECYCLE_SOURCE, _SPOOL, _JSONL.
import { basename } from "node:path";
import { createLifecycle } from "./create-lifecycle.ts";
import { instrumentChildProcess } from "./instrumentation/child-process.ts";
import { instrumentWorkerThreads } from "./instrumentation/worker-threads.ts";
import type { Lifecycle } from "./lifecycle.ts";

const { AGENT_LIFECYCLE_SOURCE, OTEL_SERVICE_NAME, AGENT_LIFECYCLE_RECORD_ARGUMENTS } = process.env;

/** For a program that wants to say more about its own children. */
export const lifecycle: Lifecycle = createLifecycle({
  source: AGENT_LIFECYCLE_SOURCE?.trim() || OTEL_SERVICE_NAME?.trim() || basename(process.argv[1] ?? "node"),
});

const recordArguments = AGENT_LIFECYCLE_RECORD_ARGUMENTS === "true";
instrumentChildProcess({ lifecycle, recordArguments });
instrumentWorkerThreads({ lifecycle, recordArguments });
