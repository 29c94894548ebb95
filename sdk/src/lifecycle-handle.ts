import type { VisibilityContract } from "@agent-lifecycle/proto";
import { isMembers } from "./argument.ts";
import type { Child } from "./child.ts";
import { ChildHandle, type ChildHost } from "./child-handle.ts";
import { ChildIds } from "./child-ids.ts";
import {
  type AdoptOptions,
  type ChildOptions,
  type ResolvedChild,
  type RetryOptions,
  resolveChild,
} from "./child-options.ts";
import type { Clock } from "./clock.ts";
import type { DeliveryCounters } from "./counters.ts";
import { beforeDeadline } from "./deadline.ts";
import { type Diagnostics, textOfError } from "./diagnostics.ts";
import { EventEmitter, type EventWitness } from "./event-emitter.ts";
import type { EventSink } from "./export-chain/event-sink.ts";
import { HeartbeatSchedule } from "./heartbeat.ts";
import type { DeadlineOptions, FlushResult, Lifecycle, LifecycleCounters } from "./lifecycle.ts";
import { carrierOf, type Inheritance } from "./lineage/carrier.ts";
import { currentChild } from "./lineage/current-child.ts";
import type { VisibilityChild, VisibilityOptions } from "./visibility.ts";

export interface LifecycleSettings {
  readonly source: string;
  readonly sourceEpoch: string;
  readonly heartbeatIntervalMs: number;
  readonly clock: Clock;
  readonly createId: () => string;
  readonly sink: EventSink;
  readonly counters: DeliveryCounters;
  readonly diagnostics: Diagnostics;
  /** What the process or thread was given on its way. */
  readonly inheritance: Inheritance;
  readonly inheritedVisibility: VisibilityContract | undefined;
  readonly visibilityOf: (child: VisibilityChild | undefined, options: VisibilityOptions) => VisibilityContract;
}

export interface LifecycleSurroundings extends Pick<LifecycleSettings, "clock" | "createId" | "diagnostics"> {
  /** Whether there were events that a new witness has not heard of. */
  readonly hasEmitted: boolean;
  readonly isShutDown: () => boolean;
}

const DEFAULT_TIMEOUT_MS = 5_000;
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export class LifecycleHandle implements Lifecycle {
  readonly source: string;
  readonly sourceEpoch: string;
  readonly #settings: LifecycleSettings;
  readonly #emitter: EventEmitter;
  readonly #heartbeats: HeartbeatSchedule;
  readonly #childIds = new ChildIds();
  readonly #childHost: ChildHost;
  readonly #shutdownSteps: (() => void)[] = [];
  #shutdown: Promise<FlushResult> | undefined;

  constructor(settings: LifecycleSettings) {
    this.#settings = settings;
    this.source = settings.source;
    this.sourceEpoch = settings.sourceEpoch;
    this.#emitter = new EventEmitter(settings);
    this.#heartbeats = new HeartbeatSchedule(settings.clock, settings.heartbeatIntervalMs);
    this.#childHost = {
      source: settings.source,
      sourceEpoch: settings.sourceEpoch,
      emitter: this.#emitter,
      diagnostics: settings.diagnostics,
      heartbeats: this.#heartbeats,
      heartbeatsEnabled: settings.heartbeatIntervalMs > 0,
      createId: settings.createId,
      createRetry: (previous, options) => this.#retry(previous, options),
      createInert: (previous) => new ChildHandle(this.#childHost, { ...previous, observedState: "created" }, true),
      onEnded: (childId) => this.#childIds.end(childId),
      visibilityOf: (child, options) => settings.visibilityOf(child, options ?? {}),
      carrierFor: (child) => carrierOf(child, settings.inheritance.spanContext),
    };
  }

  child(options?: ChildOptions): Child {
    return this.#begin(this.#resolve(options));
  }

  adopt(options?: AdoptOptions): Child {
    return this.#begin(this.#resolve(isMembers(options) ? { ...options, external: true } : { external: true }));
  }

  get inheritedVisibility(): VisibilityContract | undefined {
    return this.#settings.inheritedVisibility;
  }

  visibilityContract(options?: VisibilityOptions): VisibilityContract {
    return this.#settings.visibilityOf(undefined, isMembers(options) ? options : {});
  }

  async flush(options?: DeadlineOptions): Promise<FlushResult> {
    try {
      const { clock, sink } = this.#settings;
      return { complete: await beforeDeadline(sink.flush("until_deadline"), this.#timeoutMs(options), clock) };
    } catch (error) {
      this.#settings.diagnostics.internalError(error);
      return { complete: false };
    }
  }

  shutdown(options?: DeadlineOptions): Promise<FlushResult> {
    this.#shutdown ??= this.#close(options);
    return this.#shutdown;
  }

  counters(): LifecycleCounters {
    const { counters, sink, diagnostics } = this.#settings;
    return {
      emitted: counters.emitted,
      buffered: sink.buffered(),
      exported: counters.exported,
      spooled: sink.spooled(),
      replayed: counters.replayed,
      adopted: counters.adopted,
      adoptedRefused: counters.adoptedRefused,
      writtenToJsonl: counters.writtenToJsonl,
      handedToHost: counters.handedToHost,
      suppressed: counters.suppressed,
      dropped: counters.dropped(),
      rejections: counters.rejections(),
      diagnostics: diagnostics.counts(),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown();
  }

  /** The process is ending; nothing asynchronous runs any more. */
  settleAtOnce(): void {
    this.#emitter.settleAtOnce();
  }

  /** For what stands beside the lifecycle and speaks of the same children: it hears of every event from now on. */
  attach(witness: EventWitness): LifecycleSurroundings {
    const { clock, createId, diagnostics, counters } = this.#settings;
    this.#emitter.witness(witness);
    const isShutDown = (): boolean => this.#shutdown !== undefined;
    return { clock, createId, diagnostics, hasEmitted: counters.emitted > 0, isShutDown };
  }

  /** Runs when the lifecycle is shut down. */
  onShutdown(step: () => void): void {
    this.#shutdownSteps.push(step);
  }

  async #close(options: DeadlineOptions | undefined): Promise<FlushResult> {
    const { clock, sink, diagnostics } = this.#settings;
    const timeoutMs = this.#timeoutMs(options);
    this.#emitter.close();
    this.#heartbeats.stop();
    let complete = false;
    try {
      complete = await beforeDeadline(sink.flush("until_deadline"), timeoutMs, clock);
      if (!complete) sink.settleNow("shutdown_timeout");
      for (const step of this.#shutdownSteps) step();
      await beforeDeadline(sink.close(), CLOSE_TIMEOUT_MS, clock);
    } catch (error) {
      diagnostics.internalError(error);
    }
    return { complete };
  }

  #resolve(options: unknown): ResolvedChild {
    const { clock, createId, diagnostics, inheritance } = this.#settings;
    const onProblem = (path: string, rule: string): void =>
      diagnostics.report("invalid_argument", `${path} ${rule}`, { path });
    const delegator = currentChild() ?? inheritance.parent;
    const resolution = { freshChildId: createId, nowMs: clock.now(), delegator, onProblem };
    let resolved: ResolvedChild;
    try {
      resolved = resolveChild(options, resolution);
    } catch (error) {
      onProblem("options", `cannot be read: ${textOfError(error)}`);
      resolved = resolveChild(undefined, resolution);
    }
    if (!this.#childIds.isTaken(resolved.childId)) return resolved;
    diagnostics.report("duplicate_child_id", "the id belongs to another child of this run; a fresh one is taken", {
      path: "childId",
      childId: resolved.childId,
    });
    return withChildId(resolved, createId());
  }

  #begin(resolved: ResolvedChild): Child {
    const handle = new ChildHandle(this.#childHost, resolved);
    try {
      this.#childIds.begin(resolved.childId);
      handle.begin();
    } catch (error) {
      this.#settings.diagnostics.internalError(error);
    }
    return handle;
  }

  #retry(previous: ResolvedChild, options: RetryOptions | undefined): Child {
    const stated = this.#resolve(options);
    const { rootChildId, attempt, parentChildId } = previous.lineage;
    return this.#begin({
      ...stated,
      capabilities: { ...previous.capabilities, ...stated.capabilities },
      observedState: "created",
      lineage: Object.freeze({
        rootChildId,
        attempt: attempt + 1,
        external: false,
        ...(parentChildId === undefined ? undefined : { parentChildId }),
      }),
    });
  }

  #timeoutMs(options: DeadlineOptions | undefined): number {
    const stated: unknown = options?.timeoutMs;
    if (stated === undefined) return DEFAULT_TIMEOUT_MS;
    if (typeof stated === "number" && stated >= 0 && stated <= MAX_TIMEOUT_MS) return stated;
    this.#settings.diagnostics.report("invalid_argument", `timeoutMs must be a number from 0 to ${MAX_TIMEOUT_MS}`, {
      path: "timeoutMs",
    });
    return DEFAULT_TIMEOUT_MS;
  }
}

/** Closing is local work; a foreign exporter that does not come back is left behind. */
const CLOSE_TIMEOUT_MS = 500;

function withChildId(resolved: ResolvedChild, childId: string): ResolvedChild {
  const { lineage } = resolved;
  const isRoot = lineage.rootChildId === resolved.childId;
  return { ...resolved, childId, lineage: isRoot ? Object.freeze({ ...lineage, rootChildId: childId }) : lineage };
}
