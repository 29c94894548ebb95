import { METRIC_DEFINITIONS, RECORD_ATTRIBUTES } from "@agent-lifecycle/collector/parts";
import { describe, expect, it, test } from "vitest";
import { parse } from "yaml";
import { alertRules, dashboards, packFile, queriesOf } from "../../kit/grafana-pack.ts";
import { logqlNames, promqlNames, type QueryNames, traceqlNames } from "../../kit/query-names.ts";
import { load } from "../collector/config/load-text.ts";

/** What Prometheus itself adds. */
const PROMETHEUS_METRICS = ["up"];
const PROMETHEUS_LABELS = ["instance", "job", "le"];
/** What Loki makes an index of by itself, and of the fields of a record. */
const LOKI_LABELS = ["service_name", "trace_id"];

const attributes = Object.values(RECORD_ATTRIBUTES);
const metrics = new Map(METRIC_DEFINITIONS.map((definition) => [definition.name, definition]));
const recordLabels = attributes.map(({ name }) => name.replaceAll(/[^A-Za-z0-9_]/g, "_"));
const spanAttributes = attributes.flatMap(({ name, on }) => ((on as readonly string[]).includes("span") ? [name] : []));

/** A histogram is asked by the series that it consists of. */
function definitionOf(name: string) {
  const definition = metrics.get(name) ?? metrics.get(name.replace(/_(?:bucket|sum|count)$/, ""));
  return name !== definition?.name && definition?.type !== "histogram" ? undefined : definition;
}

const NAMES_OF: Readonly<Record<string, (query: string) => QueryNames>> = {
  prometheus: promqlNames,
  loki: logqlNames,
  tempo: traceqlNames,
};

function expectKnown(type: string, query: string): void {
  const names = NAMES_OF[type]?.(query) ?? { isValid: false, metrics: [], labels: [] };
  expect([query, names.isValid]).toEqual([query, true]);
  if (type === "loki") for (const label of names.labels) expect([...recordLabels, ...LOKI_LABELS]).toContain(label);
  if (type === "tempo")
    for (const label of names.labels) expect(spanAttributes).toContain(label.replace(/^span\./, ""));
  if (type !== "prometheus") return;
  const definitions = names.metrics
    .filter((name) => !PROMETHEUS_METRICS.includes(name))
    .map((name) => [name, definitionOf(name)] as const);
  for (const [name, definition] of definitions) expect([name, definition?.name]).not.toContain(undefined);
  const labels = new Set([...PROMETHEUS_LABELS, ...definitions.flatMap(([, definition]) => definition?.labels ?? [])]);
  for (const label of names.labels) expect(labels).toContain(label);
}

describe.each(dashboards())("the dashboard %s", (_, dashboard) => {
  const { panels, templating, uid } = dashboard;
  const queries = queriesOf(dashboard);

  it("is classic JSON that a Grafana from 9 to 13 loads", () => {
    expect(dashboard).toMatchObject({ schemaVersion: 42, editable: false });
    expect(uid).toMatch(/^agent-lifecycle-[a-z]+$/);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });

  it("has panels that say what they show, and that lie beside each other", () => {
    for (const { title, type, description = "", gridPos, fieldConfig } of panels) {
      expect(title).not.toBe("");
      if (type === "row") continue;
      expect([title, description]).toEqual([title, expect.stringMatching(/^[A-Z].*\.$/)]);
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      expect([title, fieldConfig?.defaults.unit]).not.toContain(undefined);
    }
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });

  it("takes every data source from a variable", () => {
    const variables = new Set(
      templating.list.flatMap(({ name, type }) => (type === "datasource" ? [`\${${name}}`] : [])),
    );
    for (const { datasource } of panels.flatMap(({ targets = [] }) => targets))
      expect(variables).toContain(datasource.uid);
  });

  it("uses only variables that it has", () => {
    const variables = templating.list.map(({ name }) => name);
    for (const { query } of queries) {
      for (const [, name] of query.matchAll(/\$(?!__)([a-z_]+)/g)) expect(variables).toContain(name);
    }
  });

  it.each(queries)("asks of $type by names of the registry: $panel, $query", ({ type, query }) =>
    expectKnown(type, query),
  );

  it("asks for rates over the interval that suits what is shown", () => {
    for (const { type, query } of queries) {
      if (type !== "prometheus") continue;
      for (const [call] of query.matchAll(/\b(?:rate|increase)\([^)]*\)/g))
        expect(call).toMatch(/\[\$__(?:rate_interval|range)\]/);
    }
  });
});

describe("the alerts", () => {
  test.each(alertRules())("$alert asks by names of the registry, and says what is the matter", (rule) => {
    expectKnown("prometheus", rule.expr);
    expect(rule.labels["severity"]).toMatch(/^(?:warning|critical)$/);
    expect(rule.annotations["summary"]).not.toBe("");
    expect(rule.annotations["description"]).toMatch(/\S/);
  });

  it("are each tested", () => {
    const tested = packFile("prometheus/agent-lifecycle.rules.test.yml");
    for (const { alert } of alertRules()) expect(tested).toContain(`alertname: ${alert}`);
  });
});

describe("a name that changes in code and not here", () => {
  it.each([
    ["prometheus", "sum(agent_lifecycle_live_kids)"],
    ["prometheus", "sum by (root) (agent_lifecycle_live_children)"],
    ["prometheus", "rate(agent_lifecycle_queue_bytes_bucket[5m])"],
    ["prometheus", "sum(agent_lifecycle_live_children"],
    ["loki", '{service_name="x"} | agent_lifecycle_child="a"'],
    ["loki", '{pod="x"}'],
    ["tempo", '{ span.agent_lifecycle.uid = "a" }'],
    ["tempo", '{ span.agent_lifecycle.state = "a" '],
  ])("fails: %s, %s", (type, query) => expect(() => expectKnown(type, query)).toThrow());
});

test("the collector of compose.yaml can be started with its configuration", () => {
  expect(load(packFile("collector.yaml")).problems).toEqual([]);
});

test("compose.yaml and the provisioning name files and services that are there", () => {
  const compose = parse(packFile("compose.yaml")) as {
    readonly services: Readonly<Record<string, { readonly volumes: readonly string[] }>>;
  };
  for (const { volumes } of Object.values(compose.services)) {
    for (const volume of volumes) {
      const [from = ""] = volume.split(":");
      if (/\.ya?ml$/.test(from)) expect(packFile(from)).not.toBe("");
    }
  }
  const sources = packFile("provisioning/datasources/agent-lifecycle.yaml");
  const urls = [...sources.matchAll(/url: http:\/\/([a-z]+):\d+/g)].map(([, service = ""]) => service);
  for (const service of urls) expect(Object.keys(compose.services)).toContain(service);
  const { datasources } = parse(sources) as { readonly datasources: readonly { readonly uid: string }[] };
  const uids = datasources.map(({ uid }) => uid);
  for (const [, uid] of sources.matchAll(/datasourceUid: (\S+)/g)) expect(uids).toContain(uid);
});
