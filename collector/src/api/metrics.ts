import { type OpenMetricsContentType, Registry } from "prom-client";
import type { ChildChange } from "../core/index.ts";
import type { AdmissionTelemetry } from "../runtime/admission-control.ts";
import type { Authority } from "../runtime/authority.ts";
import type { ExportTelemetry } from "../runtime/export-telemetry.ts";
import type { MetricSamples } from "../runtime/metric-samples.ts";
import type { ProjectionReader } from "../runtime/projection-reader.ts";
import type { RequestTelemetry } from "../runtime/request-telemetry.ts";
import type { PipelineTelemetry, RetentionTelemetry } from "../runtime/telemetry.ts";
import { BoundedSources } from "../telemetry/bounded-sources.ts";
import { createAdmissionMetrics } from "./admission-metrics.ts";
import { type AuthorityMetrics, createAuthorityMetrics } from "./authority-metrics.ts";
import { createChangeMetrics } from "./change-metrics.ts";
import { type ChildrenInMemory, createChildrenMetrics } from "./children-metrics.ts";
import { createExportMetrics } from "./export-metrics.ts";
import { createInstruments } from "./instruments.ts";
import { samplesOf } from "./metric-readings.ts";
import type { MetricRegisters } from "./metric-registers.ts";
import { createPipelineMetrics } from "./pipeline-metrics.ts";
import { createProcessMetrics } from "./process-metrics.ts";
import { createRetentionMetrics } from "./retention-metrics.ts";

/** The collector's own metrics. Labels are closed or bounded sets: no child, root or epoch is ever one. */
export interface CollectorMetrics {
  readonly telemetry: PipelineTelemetry & RequestTelemetry & RetentionTelemetry & AdmissionTelemetry;
  readonly exportTelemetry: ExportTelemetry;
  readonly countAsking: AuthorityMetrics["countAsking"];
  /** Counts what became of one child. Cheap, and never throws. */
  observeChange(change: ChildChange): void;
  /** Says where the children are that the gauges by source count. Before it is called there are none of these. */
  readChildrenFrom(inMemory: ChildrenInMemory): void;
  /** The exposition in the format that suits the `Accept` header: OpenMetrics 1.0, or else Prometheus text 0.0.4. */
  render(
    accept: string | undefined,
    reader: ProjectionReader,
    authorities?: readonly Authority[],
  ): Promise<MetricsExposition>;
  /** The same as values, under the same names. */
  samples(reader: ProjectionReader, authorities?: readonly Authority[]): Promise<MetricSamples>;
}

export interface MetricsExposition {
  readonly contentType: string;
  readonly text: string;
}

/** Creates the metrics with a registry of their own: an embedding host's stay apart. */
export function createMetrics(): CollectorMetrics {
  const prometheus = new Registry();
  const openMetrics = new Registry<OpenMetricsContentType>();
  openMetrics.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  const registers: MetricRegisters = [prometheus, openMetrics];
  const instruments = createInstruments(registers);
  const sources = new BoundedSources();
  const setChildren = createChildrenMetrics(instruments, sources);
  const setProcess = createProcessMetrics(instruments);
  const authorityMetrics = createAuthorityMetrics(instruments);
  let inMemory: ChildrenInMemory | undefined;
  const read = async (reader: ProjectionReader, authorities: readonly Authority[]): Promise<void> => {
    await setChildren(reader, inMemory);
    authorityMetrics.set(authorities);
    setProcess();
  };
  return {
    telemetry: {
      ...createPipelineMetrics(instruments),
      ...createRetentionMetrics(instruments),
      ...createAdmissionMetrics(instruments),
    },
    exportTelemetry: createExportMetrics(instruments),
    countAsking: authorityMetrics.countAsking,
    observeChange: createChangeMetrics(instruments, sources),
    readChildrenFrom: (children) => {
      inMemory = children;
    },
    render: async (accept, reader, authorities = []) => {
      await read(reader, authorities);
      const registry = accept?.includes("application/openmetrics-text") ? openMetrics : prometheus;
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
    samples: async (reader, authorities = []) => {
      await read(reader, authorities);
      return samplesOf(openMetrics);
    },
  };
}
