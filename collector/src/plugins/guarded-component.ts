import type { Component } from "../runtime/component.ts";
import type { ComponentLog } from "../runtime/component-context.ts";
import type { Schedule } from "../runtime/schedule.ts";
import { withinDeadline } from "./deadline.ts";
import { PluginError, reasonOf } from "./plugin-specification.ts";

export interface GuardOptions {
  readonly id: string;
  readonly log: ComponentLog;
  readonly schedule: Schedule;
  /** Milliseconds. */
  readonly startTimeoutMs: number;
  /** Milliseconds. */
  readonly shutdownTimeoutMs: number;
  /** Called once when the component is over: it stopped, or had its time. */
  readonly onEnd?: () => void;
}

/**
 * Holds somebody else's component to the contract: a start that throws, rejects or hangs rejects with its name; a
 * shutdown that does is logged, and over after its time. What cannot be held is code that runs on by itself.
 */
export function guardComponent(component: Component, options: GuardOptions): Component {
  const { id, log, schedule, startTimeoutMs, shutdownTimeoutMs, onEnd } = options;
  let starting: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;

  async function start(): Promise<void> {
    const outcome = await withinDeadline(() => component.start(), startTimeoutMs, schedule);
    if (outcome.kind === "done") return;
    if (outcome.kind === "late") throw new PluginError(id, `${id} did not start within ${startTimeoutMs} ms`);
    throw new PluginError(id, `${id} could not start: ${reasonOf(outcome.error)}`, { cause: outcome.error });
  }

  async function shutdown(): Promise<void> {
    const outcome = await withinDeadline(() => component.shutdown(), shutdownTimeoutMs, schedule);
    if (outcome.kind === "failed") log.error({ component: id, reason: reasonOf(outcome.error) }, "failed to shut down");
    if (outcome.kind === "late") log.error({ component: id, shutdownTimeoutMs }, "did not shut down in time");
    onEnd?.();
  }

  return {
    start: () => {
      if (stopping !== undefined) return Promise.reject(new PluginError(id, `${id} was shut down before it started`));
      starting ??= start();
      return starting;
    },
    shutdown: () => {
      stopping ??= shutdown();
      return stopping;
    },
  };
}
