import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import type { LogRecordExporter } from "@opentelemetry/sdk-logs";
import type { Clock } from "../clock.ts";
import { textOfError } from "../diagnostics.ts";
import type { BatchTransport, DeliveryOutcome } from "./delivery-outcome.ts";

/**
 * Sends through any OpenTelemetry exporter. Those retry on their own and report only the end, so a failure is final
 * here; so is no answer in time: trying again would pile up exports in it.
 * @param timeoutMs how long one export may take
 */
export function createExporterTransport(exporter: LogRecordExporter, clock: Clock, timeoutMs: number): BatchTransport {
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
          settle({ status: "refused", problem: `the exporter gave no answer within ${timeoutMs} ms` }),
        );
        signal.addEventListener("abort", withdrawn, { once: true });
        try {
          exporter.export([...records], (result) => settle(outcomeOf(result)));
        } catch (error) {
          settle({ status: "refused", problem: textOfError(error) });
        }
      }),
    close: async () => {
      await exporter.shutdown?.();
    },
  };
}

function outcomeOf(result: ExportResult): DeliveryOutcome {
  if (result.code === ExportResultCode.SUCCESS) return { status: "delivered", rejected: 0 };
  return { status: "refused", problem: result.error === undefined ? "export failed" : textOfError(result.error) };
}
