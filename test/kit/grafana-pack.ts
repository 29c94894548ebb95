import { readdirSync, readFileSync } from "node:fs";
import { parse } from "yaml";

const FOLDER = new URL("../../examples/grafana/", import.meta.url);

export interface Target {
  readonly refId: string;
  readonly datasource: { readonly type: string; readonly uid: string };
  readonly expr?: string;
  readonly query?: string;
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly Target[];
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly editable: boolean;
  readonly panels: readonly Panel[];
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly query: unknown }[];
  };
}

/** The dashboards of `examples/grafana`, by the names of their files. */
export function dashboards(): readonly (readonly [string, Dashboard])[] {
  const folder = new URL("dashboards/", FOLDER);
  return readdirSync(folder).map((name) => [
    name,
    JSON.parse(readFileSync(new URL(name, folder), "utf8")) as Dashboard,
  ]);
}

/** Every query of a dashboard, with the panel that asks it. */
export function queriesOf(
  dashboard: Dashboard,
): readonly { readonly panel: string; readonly type: string; readonly query: string }[] {
  return dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ datasource, expr, query }) => ({ panel: title, type: datasource.type, query: expr ?? query ?? "" })),
  );
}

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export function alertRules(): readonly AlertRule[] {
  const text = readFileSync(new URL("prometheus/agent-lifecycle.rules.yml", FOLDER), "utf8");
  const { groups } = parse(text) as { readonly groups: readonly { readonly rules: readonly AlertRule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** A file of the pack as text. */
export function packFile(name: string): string {
  return readFileSync(new URL(name, FOLDER), "utf8");
}
