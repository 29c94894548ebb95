import { describeProblem } from "@agent-lifecycle/collector";
import { type LoadedConfiguration, loadConfiguration, readConfigurationSchema } from "@agent-lifecycle/collector/parts";

const schema = readConfigurationSchema();

/** Loads the text of a file that would stand in `/etc/collector`. */
export function load(text: string, environment: Readonly<Record<string, string>> = {}): LoadedConfiguration {
  const resolvePath = (path: string): string => (path.startsWith("/") ? path : `/etc/collector/${path}`);
  return loadConfiguration(text, { schema, environment, resolvePath });
}

/** Everything that is wrong with a file, as lines. */
export function problemsOf(text: string, environment: Readonly<Record<string, string>> = {}): readonly string[] {
  return load(text, environment).problems.map(describeProblem);
}
