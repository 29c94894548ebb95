import type { Clock } from "./clock.ts";

/**
 * Version of what the collector and a component of somebody else agree on: the factories, their contexts, and what they
 * make. A module states it as `export const componentApiVersion = 1`; another version is refused, never guessed at.
 */
export const COMPONENT_API_VERSION = 1;

/** Where a component says what happens to it. Contents of events never belong here, nor do secrets. */
export interface ComponentLog {
  info(members: object, message: string): void;
  error(members: object, message: string): void;
}

/** What every component is given when it is made. */
export interface ComponentContext {
  /** Its name in the configuration, such as `module/spool`. Names it in logs, counters and diagnostics. */
  readonly id: string;
  readonly clock: Clock;
  readonly log: ComponentLog;
  /** The folder that relative paths in the options refer to: that of the configuration file. Absolute. */
  readonly folder: string;
}
