/** A table of texts for people, its columns as wide as they must be. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

/** The value that all but one of a hundred stay below. Milliseconds as text. */
export function p99(samples: readonly number[]): string {
  const sorted = samples.toSorted((one, other) => one - other);
  const value = sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * 0.99) - 1)];
  return value === undefined ? "" : `${Math.round(value)} ms (${sorted.length})`;
}
