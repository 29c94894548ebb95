/** One metric as its exposition describes it. */
interface DescribedMetric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
}

/** The metrics of a Prometheus exposition as a table in Markdown. */
export function metricsTable(exposition: string): string {
  const rows = metricsOf(exposition).map(({ name, type, help }) => `| \`${name}\` | ${type} | ${help} |`);
  return ["| name | type | |", "|---|---|---|", ...rows].join("\n");
}

function metricsOf(exposition: string): readonly DescribedMetric[] {
  const types = new Map([...exposition.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]));
  return [...exposition.matchAll(/^# HELP (\S+) (.*)$/gm)]
    .map(([, name = "", help = ""]) => ({ name, help, type: types.get(name) ?? "" }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
