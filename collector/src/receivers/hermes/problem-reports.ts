import type { Diagnostic, DiagnosticCode } from "@agent-lifecycle/proto";
import { redactAndCut } from "./display-text.ts";

/** Told in full after each connection; further ones are only counted. */
const MAX_REPORTS = 32;

/** Tells of what the gateway sent and nobody can use: bounded, redacted, and all of it counted. */
export class ProblemReports {
  readonly #report: (problem: Diagnostic) => void;
  readonly #counts = new Map<DiagnosticCode, number>();
  #told = 0;

  constructor(report: (problem: Diagnostic) => void) {
    this.#report = report;
  }

  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }

  /** A new connection may tell of its own. */
  begin(): void {
    this.#told = 0;
  }

  add(code: DiagnosticCode, path: string, text: string): void {
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1);
    if (this.#told >= MAX_REPORTS) return;
    this.#told += 1;
    this.#report({ code, path, text: redactAndCut(text, 120) });
  }
}
