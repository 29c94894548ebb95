/** One metric: all that is said about it anywhere is said here. */
export interface MetricDefinition<Label extends string = string> {
  /**
   * Its name on `/metrics` and in OTLP alike. A counter ends in `_total` and a name says its unit in a word, so that a
   * back end that adds what is missing by its own rules adds nothing.
   */
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** In UCUM: `s`, `By`, or a word in braces for what is counted. */
  readonly unit: string;
  /** One sentence. */
  readonly description: string;
  /** Closed or bounded sets only: never a child, a root, an epoch or a token. */
  readonly labels: readonly Label[];
  /** Upper bounds of a histogram's buckets, in its unit. */
  readonly buckets?: readonly number[];
}
