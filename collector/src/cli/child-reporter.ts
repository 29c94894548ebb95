import { createLifecycle, type JsonlDestination, type Lifecycle, type SdkDiagnosticCode } from "@agent-lifecycle/sdk";

/** How a command that reports a child is told where its events go. */
export interface ReporterOptions {
  readonly source: string;
  readonly endpoint?: string;
  readonly ingestToken?: string;
  /** A path, `stdout` or `stderr`. */
  readonly fallbackJsonl?: string;
}

/** Objections of the SDK that the person who runs a command can do something about. */
const TOLD: ReadonlySet<SdkDiagnosticCode> = new Set([
  "invalid_configuration",
  "invalid_argument",
  "export_failed",
  "events_rejected",
  "jsonl_write_failed",
  "spool_failed",
]);

/** The lifecycle of a command; what goes wrong with it is said on standard error, under the command's name. */
export function createReporter(command: string, options: ReporterOptions): Lifecycle {
  return createLifecycle({
    source: options.source,
    ...(options.endpoint === undefined ? undefined : { endpoint: options.endpoint }),
    ...(options.ingestToken === undefined
      ? undefined
      : { headers: { authorization: `Bearer ${options.ingestToken}` } }),
    ...(options.fallbackJsonl === undefined ? undefined : { jsonl: jsonlDestination(options.fallbackJsonl) }),
    onDiagnostic: ({ code, message }) => {
      if (TOLD.has(code)) process.stderr.write(`agent-lifecycle ${command}: ${message}\n`);
    },
  });
}

function jsonlDestination(text: string): JsonlDestination {
  return text === "stdout" || text === "stderr" ? text : { path: text };
}

export function tellWhatWasNotDelivered(command: string, lifecycle: Lifecycle): void {
  const dropped = Object.values(lifecycle.counters().dropped).reduce((sum, count) => sum + count, 0);
  if (dropped > 0) process.stderr.write(`agent-lifecycle ${command}: ${dropped} events could not be delivered\n`);
}
