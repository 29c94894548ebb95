/** What the collector tells of its exporters. Every method is cheap and never throws. */
export interface ExportTelemetry {
  countExported(exporter: string, inputs: number): void;
  /** The destination will never take them: they are passed. */
  countRefused(exporter: string, inputs: number): void;
  /** Removed by retention before the exporter came to them. */
  countMissed(exporter: string, inputs: number): void;
  countRetry(exporter: string): void;
  /** What exporters make of inputs: taken by the destination, rejected by it in part of a request, or set aside because it refuses them for good. */
  countRecords(exporter: string, outcome: "sent" | "rejected" | "set_aside", records: number): void;
  /** Stored and not yet exported. */
  setLag(exporter: string, inputs: number): void;
}

export const NO_EXPORT_TELEMETRY: ExportTelemetry = {
  countExported: () => {},
  countRefused: () => {},
  countMissed: () => {},
  countRetry: () => {},
  countRecords: () => {},
  setLag: () => {},
};
