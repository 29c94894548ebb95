import { isTerminal } from "@agent-lifecycle/proto";
import { receiversInUse } from "../config/components.ts";
import type { CollectorConfiguration } from "../config/configuration.ts";
import { freshnessOf } from "../config/freshness.ts";
import type { HermesReceiverConfiguration } from "../config/hermes-configuration.ts";
import { DEFAULT_ASKING_POLICY, type FreshnessPolicy } from "../core/index.ts";
import { gateIntake } from "../plugins/receiver-intake.ts";
import type { KnownChild } from "../receivers/hermes/child-roster.ts";
import type { HermesOptions, HermesTransport } from "../receivers/hermes/hermes-options.ts";
import { createHermesReceiver, type HermesReceiver } from "../receivers/hermes/hermes-receiver.ts";
import { HERMES_SUPPORT_LEVEL } from "../receivers/hermes/support-level.ts";
import { createWatermarkFile } from "../receivers/hermes/watermark-file.ts";
import type { AskingOutcome } from "../runtime/authority.ts";
import type { Clock } from "../runtime/clock.ts";
import type { ProjectionState } from "../runtime/projection-state.ts";
import { type AskedSource, addAskedSource, DEFAULT_ANSWER_TIMEOUT_MS } from "./authorities.ts";
import type { CollectorLog } from "./collector-log.ts";
import type { Pipeline } from "./pipeline.ts";

export interface HermesReceiverParts {
  readonly configuration: CollectorConfiguration;
  readonly folder: string;
  readonly pipeline: Pipeline;
  readonly clock: Clock;
  readonly log: CollectorLog;
  readonly onOutcome: (id: string, outcome: AskingOutcome, durationMs: number) => void;
}

export interface ComposedHermes {
  readonly id: string;
  readonly receiver: HermesReceiver;
}

/**
 * The receivers that observe gateways of Hermes, each the authority of its source. None is started.
 * @throws AuthorityConflictError when something else speaks for such a source.
 */
export function composeHermesReceivers(parts: HermesReceiverParts): readonly ComposedHermes[] {
  const { configuration, folder, pipeline, clock, log, onOutcome } = parts;
  const { authorities, door, state } = pipeline;
  return receiversInUse(configuration)
    .filter((receiver) => receiver.type === "hermes")
    .map(({ id, settings }) => {
      const { source } = settings;
      const receiver = createHermesReceiver(
        { id, folder, clock, log, intake: gateIntake(door, id).intake },
        hermesOptions(settings),
        {
          knownChildren: () => liveChildren(state, source),
          watermarks: createWatermarkFile(watermarkPath(configuration.storage.path, id)),
          // A gateway that came back may be another one: what it says of the children of the one before is wanted at once.
          onConnected: () => authorities.want(source, "reconnect"),
        },
      );
      addAskedSource(
        {
          id,
          kind: "hermes",
          supportLevel: HERMES_SUPPORT_LEVEL,
          snapshotSource: receiver.snapshotSource,
          ...paceWithin(freshnessOf(configuration.lifecycle, source)),
        },
        { pipeline, clock, onOutcome },
      );
      return { id, receiver };
    });
}

/** Two answers that come late, and the wait between them, fit into the time that a question about a child waits. */
function paceWithin({ staleAfterMs, reconcileDeadlineMs }: FreshnessPolicy): Pick<AskedSource, "policy" | "timeoutMs"> {
  const { intervalMs, pauseMs, retryMs, maxRetryMs } = DEFAULT_ASKING_POLICY;
  const timeoutMs = Math.min(DEFAULT_ANSWER_TIMEOUT_MS, Math.ceil(reconcileDeadlineMs / 3));
  const longestWaitMs = Math.min(maxRetryMs, (reconcileDeadlineMs - 2 * timeoutMs) / 2);
  return {
    timeoutMs,
    policy: {
      // Who is asked and answers is not silent: no child goes stale between two questions.
      intervalMs: Math.min(intervalMs, staleAfterMs / 3),
      pauseMs: Math.min(pauseMs, reconcileDeadlineMs / 4),
      retryMs: Math.min(retryMs, longestWaitMs),
      maxRetryMs: longestWaitMs,
    },
  };
}

/** Beside the database, as the cursors of exporters are. */
function watermarkPath(database: string, id: string): string {
  return `${database}.receivers/${encodeURIComponent(id)}.json`;
}

function liveChildren({ projection }: ProjectionState, source: string): readonly KnownChild[] {
  const children = projection.sources.get(source)?.children.values() ?? [];
  return [...children]
    .filter(({ state }) => !isTerminal(state))
    .map(({ childId, state, epoch, lineage }) => ({ childId, state, sourceEpoch: epoch, lineage }));
}

/** What a configuration without problems says, as the receiver takes it. */
function hermesOptions(settings: HermesReceiverConfiguration): HermesOptions {
  const { source, pollIntervalMs, attach, cancel, nameGoals, maxFrameBytes, requestTimeoutMs, silenceTimeoutMs } =
    settings;
  return {
    source,
    transport: transportOf(settings),
    pollIntervalMs,
    attach,
    cancel,
    nameGoals,
    maxFrameBytes,
    requestTimeoutMs,
    silenceTimeoutMs,
  };
}

function transportOf(settings: HermesReceiverConfiguration): HermesTransport {
  const { url, stdio, token, tokenFile, loginCookie, loginCookieFile } = settings;
  if (stdio !== undefined) {
    return { kind: "stdio", ...stdio, environment: Object.fromEntries(stdio.environment) };
  }
  if (url === undefined) throw new TypeError("a gateway is reached by a url or by stdio");
  return {
    kind: "websocket",
    url,
    ...(token === undefined ? undefined : { token }),
    ...(tokenFile === undefined ? undefined : { tokenFile }),
    ...(loginCookie === undefined ? undefined : { loginCookie }),
    ...(loginCookieFile === undefined ? undefined : { loginCookieFile }),
  };
}
