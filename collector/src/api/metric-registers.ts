import type { OpenMetricsContentType, PrometheusContentType, Registry } from "prom-client";

/** Both forms of the exposition, the older text and OpenMetrics: what is registered with one is registered with the other. */
export type MetricRegisters = readonly [Registry<PrometheusContentType>, Registry<OpenMetricsContentType>];
