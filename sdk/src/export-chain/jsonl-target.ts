/** A place that takes whole lines. Calls of `append` do not overlap; `appendSync` may come while one is under way. */
export interface JsonlTarget {
  /** Rejects when the text may not be there in full. */
  append(text: string): Promise<void>;
  /** For the process's last moments. Throws when the text may not be there in full. */
  appendSync(text: string): void;
  close(): Promise<void>;
}
