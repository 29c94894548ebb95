import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import type { LogRecordExporter } from "@opentelemetry/sdk-logs";
import { textOfError } from "../diagnostics.ts";
import type { BatchTransport, DeliveryOutcome } from "./delivery-outcome.ts";

/**
 * Sends through any OpenTelemetry exporter. Those retry on their own and report only the end, so a failure is final
 * here; an exporter that never calls back is let go when the batch is withdrawn.
 */
export function createExporterTransport(exporter: LogRecordExporter): BatchTransport {
  return {
    send: (records, signal) =>
      new Promise((resolve) => {
        const withdrawn = (): void => resolve({ status: "unreachable", problem: "withdrawn" });
        signal.addEventListener("abort", withdrawn, { once: true });
        const settle = (outcome: DeliveryOutcome): void => {
          signal.removeEventListener("abort", withdrawn);
          resolve(outcome);
        };
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
