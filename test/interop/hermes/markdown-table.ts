/** A table for a page and for the eye alike: the first row holds the heads. */
export function markdownTable([heads = [], ...rows]: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}
