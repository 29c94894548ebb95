import type { OpenMetricsContentType, Registry } from "prom-client";

/** Both forms of the exposition: what is registered with one is registered with the other. */
export type MetricRegisters = (Registry | Registry<OpenMetricsContentType>)[];
