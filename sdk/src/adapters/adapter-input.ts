/** One thing that the observed system said, as it came; nothing of it has been checked. */
export interface AdapterInput {
  readonly value: unknown;
  /**
   * When it was observed, milliseconds since 1970-01-01T00:00:00Z: the time of arrival, unless the input carries a time of
   * its own that the format defines.
   */
  readonly observedAtMs: number;
}
