/** One thing that is wrong with a configuration. */
export interface ConfigurationProblem {
  /** Where, in the spelling of a file: `["api", "endpoint"]`. Empty: the file as a whole. */
  readonly path: ConfigurationPath;
  /** What is wrong, in words. It never holds a secret. */
  readonly text: string;
  /** Where in the file, both from 1, when a file says it. */
  readonly position?: { readonly line: number; readonly column: number };
}

export type ConfigurationPath = readonly (string | number)[];

/** A problem as a line: `12:5 api.endpoint: is no address and port: "8787"`. */
export function describeProblem({ path, text, position }: ConfigurationProblem): string {
  const place = position === undefined ? "" : `${position.line}:${position.column} `;
  return path.length === 0 ? `${place}${text}` : `${place}${formatPath(path)}: ${text}`;
}

/** A path as one would write it: `access.tokens[0].scopes`. */
export function formatPath(path: ConfigurationPath): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    return text === "" ? key : `${text}.${key}`;
  }, "");
}
