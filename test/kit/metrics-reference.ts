import { METRIC_DEFINITIONS } from "@agent-lifecycle/collector/parts";

/** The registry of metrics as a table in Markdown. */
export function metricsTable(): string {
  const rows = METRIC_DEFINITIONS.map(({ name, type, unit, labels, description }) => {
    const named = labels.map((label) => `\`${label}\``).join(" ");
    return `| \`${name}\` | ${type} | \`${unit}\` | ${named} | ${description} |`;
  });
  return ["| name | type | unit | labels | |", "|---|---|---|---|---|", ...rows].join("\n");
}

/** One metric as an exposition describes it. */
export interface ExposedMetric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
}

/** The metrics of an exposition in Prometheus text, sorted by name. */
export function exposedMetrics(exposition: string): readonly ExposedMetric[] {
  const types = new Map([...exposition.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]));
  return [...exposition.matchAll(/^# HELP (\S+) (.*)$/gm)]
    .map(([, name = "", help = ""]) => ({ name, help, type: types.get(name) ?? "" }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
