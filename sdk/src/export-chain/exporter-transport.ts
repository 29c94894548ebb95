import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import type { LogRecordExporter } from "@opentelemetry/sdk-logs";
import type { Clock } from "../clock.ts";
import { textOfError } from "../diagnostics.ts";
import type { BatchTransport, DeliveryOutcome } from "./delivery-outcome.ts";
import { RETRYABLE_CODES } from "./otlp-answer.ts";

/**
 * Sends through any OpenTelemetry exporter. Those retry on their own and report only the end, so a failure is final
 * here; so is no answer in time: trying again would pile up exports in it. Where there is a spool, a failure counts as
 * an outage unless the exporter names a status code that says otherwise.
 * @param timeoutMs how long one export may take
 */
export function createExporterTransport(
  exporter: LogRecordExporter,
  clock: Clock,
  timeoutMs: number,
  hasSpool: boolean,
): BatchTransport {
  const failure = hasSpool ? "unreachable" : "refused";
  return {
    send: (records, signal) =>
      new Promise((resolve) => {
        const settle = (outcome: DeliveryOutcome): void => {
          signal.removeEventListener("abort", withdrawn);
          stopWaiting();
          resolve(outcome);
        };
        const withdrawn = (): void => settle({ status: "unreachable", problem: "withdrawn" });
        const stopWaiting = clock.after(timeoutMs, () =>
          settle({ status: failure, problem: `the exporter gave no answer within ${timeoutMs} ms` }),
        );
        signal.addEventListener("abort", withdrawn, { once: true });
        try {
          exporter.export([...records], (result) => settle(outcomeOf(result, failure)));
        } catch (error) {
          settle({ status: "refused", problem: textOfError(error) });
        }
      }),
    close: async () => {
      await exporter.shutdown?.();
    },
  };
}

function outcomeOf({ code, error }: ExportResult, failure: "unreachable" | "refused"): DeliveryOutcome {
  if (code === ExportResultCode.SUCCESS) return { status: "delivered", rejected: 0 };
  const problem = error === undefined ? "export failed" : textOfError(error);
  // The stock exporters put the HTTP status here.
  const status = error !== undefined && "code" in error && typeof error.code === "number" ? error.code : undefined;
  const isFinal = status !== undefined && status >= 300 && status < 600 && !RETRYABLE_CODES.has(status);
  return { status: isFinal ? "refused" : failure, problem };
}
