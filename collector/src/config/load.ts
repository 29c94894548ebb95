import type { CollectorConfiguration } from "./configuration.ts";
import type { Environment } from "./environment.ts";
import { fileProblems } from "./file-problems.ts";
import { statedByFile } from "./file-values.ts";
import { type ConfigurationPath, type ConfigurationProblem, formatPath } from "./problem.ts";
import { resolveConfiguration, type StatedConfiguration } from "./resolve.ts";
import type { ConfigurationSchema } from "./schema.ts";
import { withoutUnsound } from "./sound-values.ts";
import { readYamlTree } from "./yaml-tree.ts";

export interface LoadOptions {
  readonly schema: ConfigurationSchema;
  /** Where `${env:NAME}` is looked up. */
  readonly environment: Environment;
  /** Makes a path of the file one that can be opened: relative ones start at the file's folder. */
  readonly resolvePath: (path: string) => string;
  /** Lays what else is said, such as flags, over the file. */
  readonly override?: (stated: StatedConfiguration) => StatedConfiguration;
}

export interface LoadedConfiguration {
  /** To be used when there are no problems. */
  readonly configuration: CollectorConfiguration;
  /** Everything that is wrong, in the order of the file. */
  readonly problems: readonly ConfigurationProblem[];
  /** Says of problems where they stand in the file, and brings them into its order. */
  place(problems: readonly ConfigurationProblem[]): readonly ConfigurationProblem[];
  /** Whether something of the value came from the environment, and should not be shown. */
  isFromEnvironment(path: ConfigurationPath): boolean;
}

/** Reads the text of a configuration file. Pure; all problems at once, each with its path and where it stands. */
export function loadConfiguration(text: string, options: LoadOptions): LoadedConfiguration {
  const { schema, environment, resolvePath, override = (stated) => stated } = options;
  const tree = readYamlTree(text, environment);
  const misfits = fileProblems(tree.value ?? null, schema);
  const substituted = tree.problems.map(({ path }) => path);
  const unsound = [...substituted, ...misfits.unsound].filter(({ length }) => length > 0);
  const sound = withoutUnsound(tree.value, unsound);
  const { configuration, problems } = resolveConfiguration(override(statedByFile(sound, schema, resolvePath)));
  const isTold = new Set(unsound.map(formatPath));
  const meant = problems.filter(({ path }) => !isTold.has(formatPath(path)));
  const place = (found: readonly ConfigurationProblem[]): readonly ConfigurationProblem[] =>
    found
      .map((problem): ConfigurationProblem => {
        const position = problem.position ?? tree.positionOf(problem.path);
        return position === undefined ? problem : { ...problem, position };
      })
      .toSorted(byPosition);
  return {
    configuration,
    problems: place([...tree.problems, ...misfits.problems, ...meant]),
    place,
    isFromEnvironment: (path) => tree.isFromEnvironment(path),
  };
}

/** What stands nowhere comes last. */
function byPosition({ position: one }: ConfigurationProblem, { position: other }: ConfigurationProblem): number {
  const [oneLine, otherLine] = [one?.line ?? Number.MAX_SAFE_INTEGER, other?.line ?? Number.MAX_SAFE_INTEGER];
  return oneLine - otherLine || (one?.column ?? 0) - (other?.column ?? 0);
}
