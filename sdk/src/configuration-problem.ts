/** One value that cannot be used. The value itself is never quoted: it may be a secret. */
export interface ConfigurationProblem {
  /** The option, dotted, or the environment variable. */
  readonly path: string;
  /** What it must be: `must be a number from 1 to 64`. */
  readonly rule: string;
}

/** Collects every problem of one resolution. */
export class ProblemList {
  readonly all: ConfigurationProblem[] = [];

  add(path: string, rule: string): void {
    this.all.push({ path, rule });
  }
}
