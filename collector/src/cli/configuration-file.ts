import { closeSync, openSync, readSync, statSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import type { CollectorConfiguration } from "../config/configuration.ts";
import { type LoadedConfiguration, loadConfiguration } from "../config/load.ts";
import { type ConfigurationProblem, describeProblem } from "../config/problem.ts";
import type { StatedConfiguration } from "../config/resolve.ts";
import { readConfigurationSchema } from "../config/schema.ts";
import { CommandError, messageOf } from "./command-error.ts";
import { secretFileFindings } from "./secret-files.ts";

export interface FoundConfiguration extends LoadedConfiguration {
  /** What relative paths start at. Absolute. */
  readonly folder: string;
  /** What an operator should change, and what can be used all the same. */
  readonly warnings: readonly ConfigurationProblem[];
}

const MAX_FILE_BYTES = 1024 * 1024;

/**
 * Reads a configuration file, or nothing when none is named, lays flags over it, and looks at the files of tokens and
 * certificates that it names.
 * @throws CommandError when the file cannot be read. What is wrong in it is told as problems.
 */
export function findConfiguration(
  file: string | undefined,
  override: (stated: StatedConfiguration) => StatedConfiguration = (stated) => stated,
): FoundConfiguration {
  const folder = file === undefined ? process.cwd() : dirname(resolve(file));
  const loaded = loadConfiguration(file === undefined ? "" : read(file), {
    schema: readConfigurationSchema(),
    environment: process.env,
    resolvePath: (path) => (isAbsolute(path) ? path : resolve(folder, path)),
    override,
  });
  const { problems, warnings } = secretFileFindings(loaded.configuration);
  return {
    ...loaded,
    problems: loaded.place([...loaded.problems, ...problems]),
    warnings: loaded.place(warnings),
    folder,
  };
}

/** The configuration, or what is wrong with it. @throws CommandError that lists every problem. */
export function requireSound({ configuration, problems }: LoadedConfiguration, file?: string): CollectorConfiguration {
  if (problems.length === 0) return configuration;
  const list = problems.map((problem) => `\n  ${describeProblem(problem)}`).join("");
  throw new CommandError(`the configuration${file === undefined ? "" : ` ${file}`} cannot be used:${list}`);
}

function read(file: string): string {
  try {
    if (statSync(file).isDirectory()) throw new CommandError(`${file} is a folder, not a configuration file`);
    const content = readBeginning(file, MAX_FILE_BYTES + 1);
    if (content.length > MAX_FILE_BYTES) throw new CommandError(`${file} has more than ${MAX_FILE_BYTES} bytes`);
    return content.toString("utf8");
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`cannot read the configuration: ${messageOf(error)}`, { cause: error });
  }
}

/** It need not be a file of a size: what a pipe or a device has to say may have no end. */
function readBeginning(file: string, bytes: number): Buffer {
  const descriptor = openSync(file, "r");
  try {
    const buffer = Buffer.alloc(bytes);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes; length += read) {
      read = readSync(descriptor, buffer, length, bytes - length, null);
    }
    return buffer.subarray(0, length);
  } finally {
    closeSync(descriptor);
  }
}
