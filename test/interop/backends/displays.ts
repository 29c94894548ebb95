import { STATES } from "@agent-lifecycle/proto";
import { expect } from "vitest";
import { openBoard } from "../../browser/board-page.ts";
import { hasBrowser } from "../../kit/browser.ts";
import { dashboards, queriesOf } from "../../kit/grafana-pack.ts";
import type { OurCollector } from "./pipeline.ts";
import { until } from "./server.ts";
import type { Jaeger, Prometheus, VictoriaLogs } from "./stores.ts";
import { textTable } from "./table.ts";

/** Every query of metrics in the dashboards, asked of a real Prometheus; and the board's numbers at the same moment. */
export async function panelsOf(series: Prometheus, ours: OurCollector, waiting: number): Promise<readonly string[]> {
  const scraped = 'job="agent-lifecycle"';
  await until(async () => (await series.query(`up{${scraped}}`))[0]?.value === 1);
  const summary = await ours.running.get<{
    readonly live: number;
    readonly stale: number;
    readonly byState: Readonly<Record<string, number>>;
  }>("/api/v1/summary");
  // A scrape is as old as a second.
  const started = Object.values(summary.byState).reduce((sum, children) => sum + children, 0);
  await until(async () => (await series.query(`sum(agent_lifecycle_children{${scraped}})`))[0]?.value === started);
  // A rate is between two scrapes at least.
  await until(async () => ((await series.query(`sum_over_time(up{${scraped}}[20s])`))[0]?.value ?? 0) >= 4);
  const byState = await series.query(`sum by (state) (agent_lifecycle_children{${scraped}})`);
  for (const { metric, value } of byState)
    expect([metric["state"], value]).toEqual([metric["state"], summary.byState[metric["state"] ?? ""]]);
  expect(byState).toHaveLength(STATES.length);

  const rows: string[][] = [];
  for (const [file, dashboard] of dashboards()) {
    for (const { panel, type, query } of queriesOf(dashboard)) {
      if (type !== "prometheus") continue;
      const asked = query
        .replaceAll("$__rate_interval", "30s")
        .replaceAll("$__range", "5m")
        .replaceAll("$source", ".*")
        // Both ways lead here: those of the scrape are asked.
        .replaceAll(/\b((?:agent_lifecycle|otelcol)_[a-z_]+)(\{?)/g, (_, name: string, brace: string) =>
          brace === "" ? `${name}{${scraped}}` : `${name}{${scraped}, `,
        );
      const samples = await series.query(asked);
      const shown = samples.slice(0, 4).map(({ metric, value }) => {
        const { __name__: _, job: __, instance: ___, ...labels } = metric;
        const text = Object.values(labels).join(" ");
        return `${text === "" ? "" : `${text} `}${Number(value.toFixed(3))}`;
      });
      rows.push([dashboard.title.replace("Agents: ", ""), panel, shown.join(", ") + (samples.length > 4 ? ", …" : "")]);
      if (panel === "Live") expect(samples[0]?.value).toBe(summary.live);
      if (panel === "Waiting for somebody") expect(samples[0]?.value).toBe(waiting);
      if (panel === "Stale") expect(samples[0]?.value).toBe(summary.stale);
      if (panel === "Live children by state") {
        for (const { metric, value } of samples) expect(value).toBe(summary.byState[metric["state"] ?? ""]);
        expect(samples.length).toBeGreaterThan(0);
      }
      expect([file, panel, samples.length > 0 || isEmptyHere(panel)]).toEqual([file, panel, true]);
    }
  }
  return [
    textTable(["dashboard", "panel", "what Prometheus answers"], rows),
    `the API at the same moment: ${JSON.stringify({ live: summary.live, stale: summary.stale, ...summary.byState })}`,
    await boardOf(ours, summary),
  ];
}

/** What a person sees on the board at that moment, in a real browser. */
async function boardOf(
  { running }: OurCollector,
  { live, byState }: { readonly live: number; readonly byState: Readonly<Record<string, number>> },
): Promise<string> {
  if (!hasBrowser()) return "the board at the same moment: not looked at, there is no browser";
  const page = await openBoard(running);
  const counts = await page.evaluate<string>(
    `document.querySelector(".counts").innerText.replaceAll(/\\s+/g, " ").trim()`,
  );
  const expected = [`${live} live`, ...Object.entries(byState).map(([state, children]) => `${children} ${state}`)];
  for (const count of expected.filter((each) => !each.startsWith("0 "))) expect(counts).toContain(count);
  return `the board at the same moment, in a browser: ${counts}`;
}

/** What this run gives no reason for: nobody was silent, refused or asked. */
function isEmptyHere(panel: string): boolean {
  return /^(?:Refused|Objections by code|Questions about stale children|Authorities|Conflicts)/.test(panel);
}

/** What the dashboards ask of logs and traces, asked of the stores that are here in their own languages. */
export async function oneChild(
  store: VictoriaLogs,
  tracing: Jaeger | undefined,
  { name, failed: expected }: { readonly name: string; readonly failed: number },
): Promise<readonly string[]> {
  const ours = '_time:1d event_name:="agent_lifecycle.projection" service.name:="agent-lifecycle-collector"';
  const failed = await store.query<{ readonly failed: string }>(
    `${ours} agent_lifecycle.update:="state" agent_lifecycle.state:="failed" | stats count_uniq("agent_lifecycle.child_id") failed`,
  );
  expect(Number(failed[0]?.failed)).toBe(expected);
  const life = await store.query<Record<string, string>>(
    `${ours} agent_lifecycle.child_id:="${name}" agent_lifecycle.update:="state" | sort by (_time) | fields _time, _msg, "agent_lifecycle.previous_state", "agent_lifecycle.state", trace_id`,
  );
  expect(life.map((one) => one["agent_lifecycle.state"])).toEqual([
    "created",
    "starting",
    "running",
    "waiting",
    "running",
    "failed",
  ]);
  expect(life.map((one) => one["agent_lifecycle.previous_state"] ?? "")).toEqual([
    "",
    "created",
    "starting",
    "running",
    "waiting",
    "running",
  ]);
  const shown = textTable(
    ["one child, as VictoriaLogs has it", "from", "to"],
    life.map((one) => [
      one["_msg"] ?? "",
      one["agent_lifecycle.previous_state"] ?? "",
      one["agent_lifecycle.state"] ?? "",
    ]),
  );
  if (tracing === undefined) return [shown];
  const spans = await tracing.spansOf(name);
  expect(spans.toSorted()).toEqual(
    [
      "agent created",
      "agent lifecycle",
      "agent running",
      "agent running",
      "agent starting",
      "agent waiting",
    ].toSorted(),
  );
  return [shown, `the same child, as Jaeger has it: ${spans.join(", ")}`];
}
