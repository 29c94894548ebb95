import { CHANGE_METRICS, CHILDREN_METRICS } from "./lifecycle-metrics.ts";
import type { MetricDefinition } from "./metric-definition.ts";
import {
  AUTHORITY_METRICS,
  EXPORT_METRICS,
  PIPELINE_METRICS,
  PROCESS_METRICS,
  RETENTION_METRICS,
} from "./pipeline-metrics.ts";

/** Every metric there is, by name. */
export const METRIC_DEFINITIONS: readonly MetricDefinition[] = [
  CHILDREN_METRICS,
  CHANGE_METRICS,
  PIPELINE_METRICS,
  RETENTION_METRICS,
  AUTHORITY_METRICS,
  EXPORT_METRICS,
  PROCESS_METRICS,
]
  .flatMap((group): readonly MetricDefinition[] => Object.values(group))
  .toSorted((one, other) => (one.name < other.name ? -1 : 1));
