import { type Baseline, type Figure, ratioOf } from "./figure.ts";
import { median, spread } from "./statistics.ts";

const HEADINGS = ["what", "figure", "±", "ratio", "baseline", "budget"] as const;
const RIGHT_ALIGNED: ReadonlySet<string> = new Set(["figure", "±", "ratio"]);

/**
 * The figures as one text table: medians over rounds. ± is half the distance between the best and the worst round, and
 * a ratio is figure ÷ baseline.
 */
export function formatTable(figures: readonly Figure[]): string {
  const rows = [HEADINGS as readonly string[], ...figures.map(rowOf)];
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  const lines = rows.map((row) =>
    HEADINGS.map((heading, column) => pad(row[column] ?? "", widths[column] ?? 0, RIGHT_ALIGNED.has(heading)))
      .join("  ")
      .trimEnd(),
  );
  lines.splice(1, 0, widths.map((width) => "─".repeat(width)).join("  "));
  return `${lines.join("\n")}\n`;
}

function rowOf(figure: Figure): readonly string[] {
  const { what, unit, samples, baseline, budget } = figure;
  const ratio = ratioOf(figure);
  return [
    what,
    `${formatNumber(median(samples))} ${unit}`,
    samples.length > 1 ? `${Math.round(spread(samples) * 50)} %` : "",
    ratio === undefined ? "" : `${formatRatio(ratio)}×`,
    baseline === undefined ? "" : describeBaseline(baseline, unit),
    budget ?? "",
  ];
}

function describeBaseline({ name, samples, notMeasured }: Baseline, unit: string): string {
  if (notMeasured !== undefined) return `${name}: not measured (${notMeasured})`;
  return `${name}: ${formatNumber(median(samples))} ${unit}`;
}

function pad(text: string, width: number, right: boolean): string {
  return right ? text.padStart(width) : text.padEnd(width);
}

/** Three significant digits, thousands grouped. */
function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return "not measured";
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}

function formatRatio(ratio: number): string {
  return ratio < 0.01 ? ratio.toExponential(1) : String(Number(ratio.toPrecision(3)));
}
