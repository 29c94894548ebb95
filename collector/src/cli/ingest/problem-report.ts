import { MAX_JSONL_DIAGNOSTICS } from "@agent-lifecycle/proto";
import type { IngestionProblem } from "./ingestion.ts";

/** Tells of the first 32 problems one by one, and counts the others. */
export class ProblemReport {
  readonly #write: (line: string) => void;
  readonly #counts = new Map<IngestionProblem["code"], number>();
  #told = 0;

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  get isClean(): boolean {
    return this.#counts.size === 0;
  }

  add({ code, text, childId }: IngestionProblem): void {
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1);
    if (this.#told >= MAX_JSONL_DIAGNOSTICS) return;
    this.#told += 1;
    this.#write(`${code}${childId === undefined ? "" : ` (${childId})`}: ${text}`);
  }

  /** Something about the delivery, which tells of itself in episodes. */
  aside(line: string): void {
    this.#write(line);
  }

  close(summary: string): void {
    const counts = [...this.#counts].map(([code, count]) => `${count} ${code}`);
    this.#write(counts.length === 0 ? summary : `${summary}; ${counts.join(", ")}`);
  }
}
