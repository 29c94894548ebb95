import { randomUUID } from "node:crypto";
import type { AdapterView, LifecycleSnapshot } from "@agent-lifecycle/proto";
import type { Component } from "../../runtime/component.ts";
import type { CancelOutcome, ObservedSource } from "../../runtime/observed-source.ts";
import type { ReceiverContext } from "../../runtime/receiver.ts";
import { type Schedule, scheduleUnreferenced } from "../../runtime/schedule.ts";
import type { SnapshotSource } from "../../runtime/snapshot-source.ts";
import { SYSTEM_WAIT, type Wait } from "../intake-patience.ts";
import { adapterView } from "./adapter-view.ts";
import type { KnownChild } from "./child-roster.ts";
import { Delivery } from "./delivery.ts";
import { errorInWords } from "./display-text.ts";
import { Doorbell } from "./doorbell.ts";
import type { FrameLink, LinkEnd, LinkListener, OpenLink } from "./frame-link.ts";
import { AddressError, displayAddress, urlWithCredentials } from "./gateway-address.ts";
import { GatewayConnection } from "./gateway-connection.ts";
import type { ObserverParts } from "./gateway-observer.ts";
import { HERMES_DEFAULTS, type HermesOptions } from "./hermes-options.ts";
import { type HermesStatus, type PastEnd, statusOf } from "./hermes-status.ts";
import { interruptChild } from "./interrupt.ts";
import { ObservationTimes } from "./observation-times.ts";
import { ProblemReports } from "./problem-reports.ts";
import { DEFAULT_RECONNECT_POLICY, ReconnectDelay, type ReconnectPolicy } from "./reconnect-delay.ts";
import { ReplayWatermarks, type WatermarkMemory } from "./replay-watermarks.ts";
import { openStdioLink } from "./stdio-link.ts";
import { WatermarkKeeper } from "./watermark-keeper.ts";
import { openWebSocketLink } from "./websocket-link.ts";

/** What the application adds to the options. */
export interface HermesParts {
  /** The collector's children of the source that have not ended. Default: none are known. */
  readonly knownChildren?: () => readonly KnownChild[];
  /** Default: what was read is forgotten with the process. */
  readonly watermarks?: WatermarkMemory;
  /** Hears of each connection that works: an authority may have answers again. */
  readonly onConnected?: () => void;
  /** Default: by the transport that the options name. */
  readonly open?: OpenLink;
  readonly reconnect?: ReconnectPolicy;
  /** In [0, 1). */
  readonly random?: () => number;
  readonly schedule?: Schedule;
  readonly wait?: Wait;
  readonly newConnectionId?: () => string;
}

export interface HermesReceiver extends Component, ObservedSource {
  readonly status: HermesStatus;
  /** The gateway as the authority for its children. Lives and ends with the receiver. */
  readonly snapshotSource: SnapshotSource;
}

/**
 * Observes the children of one Hermes gateway: their events and who runs, without attaching to anything unless configured
 * so, and without ever resuming or prompting a session.
 */
export function createHermesReceiver(
  context: ReceiverContext,
  options: HermesOptions,
  parts: HermesParts = {},
): HermesReceiver {
  return new Receiver(context, options, parts);
}

const STDIO_STOP_TIMEOUT_MS = 5_000;
const NOTE_TIMEOUT_MS = 5_000;

class Receiver implements HermesReceiver {
  readonly snapshotSource: SnapshotSource;
  readonly #context: ReceiverContext;
  readonly #options: HermesOptions;
  readonly #parts: HermesParts;
  readonly #schedule: Schedule;
  readonly #delay: ReconnectDelay;
  readonly #keeper: WatermarkKeeper;
  readonly #observer: ObserverParts;
  readonly #stop = new AbortController();
  #connection: GatewayConnection | undefined;
  #connectedSince: number | undefined;
  #connections = 0;
  #lastEnd: PastEnd | undefined;
  #lastFailure: { readonly at: number; readonly text: string } | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(context: ReceiverContext, options: HermesOptions, parts: HermesParts) {
    this.#context = context;
    this.#options = options;
    this.#parts = parts;
    this.#schedule = parts.schedule ?? scheduleUnreferenced;
    this.#delay = new ReconnectDelay(parts.reconnect ?? DEFAULT_RECONNECT_POLICY, parts.random ?? Math.random);
    const watermarks = new ReplayWatermarks();
    this.#keeper = new WatermarkKeeper(watermarks, parts.watermarks, (error) => {
      context.log.error({ error: errorInWords(error) }, "how far the gateway was read cannot be kept");
    });
    this.#observer = {
      source: options.source,
      delivery: new Delivery(context.intake, parts.wait ?? SYSTEM_WAIT, this.#stop.signal),
      times: new ObservationTimes(context.clock),
      policy: { namesGoals: options.nameGoals ?? HERMES_DEFAULTS.nameGoals },
      problems: new ProblemReports((problem) => context.intake.reportProblem(problem)),
      watermarks,
      tooLarge: new Set(),
      saveWatermarks: () => this.#keeper.save(),
      knownChildren: parts.knownChildren ?? (() => []),
    };
    this.snapshotSource = {
      source: options.source,
      start: async () => {},
      shutdown: async () => {},
      fetch: (signal) => this.#fetch(signal),
    };
  }

  get status(): HermesStatus {
    return statusOf({
      address: this.#address,
      connection: this.#connection,
      connectedSince: this.#connectedSince,
      connections: this.#connections,
      lastEnd: this.#lastEnd,
      lastFailure: this.#lastFailure,
      isStopped: this.#stop.signal.aborted,
      observer: this.#observer,
    });
  }

  async start(): Promise<void> {
    if (this.#stop.signal.aborted) return;
    // The gateway may come later than the collector: being ready does not wait for it.
    this.#running = this.#run();
  }

  async shutdown(): Promise<void> {
    this.#stop.abort();
    this.#connection?.stop();
    await this.#running;
    await this.#keeper.flush();
  }

  get source(): string {
    return this.#options.source;
  }

  view(): AdapterView {
    return adapterView(this.status);
  }

  async cancel(childId: string): Promise<CancelOutcome> {
    const requestedAt = this.#observer.times.now();
    const connection = this.#connection;
    const outcome = await interruptChild(childId, connection, this.#options.cancel ?? HERMES_DEFAULTS.cancel);
    if (outcome.kind !== "requested") return outcome;
    const isNoted = await this.#noteInTime(connection?.observer?.noteCancelRequest(childId, requestedAt));
    return isNoted ? outcome : { ...outcome, text: `${outcome.text}; that it was is not stored yet` };
  }

  /** The child was asked, whatever becomes of the note: who asked does not wait for a store that takes nothing. */
  async #noteInTime(note: Promise<void> = Promise.resolve()): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<false>();
    const cancel = this.#schedule(() => resolve(false), NOTE_TIMEOUT_MS);
    const noted = note.then(
      () => true,
      (error: unknown) => {
        // The collector stops.
        this.#context.log.error({ error: errorInWords(error) }, "a request to stop a child could not be noted");
        return false;
      },
    );
    const isNoted = await Promise.race([noted, late]);
    cancel();
    return isNoted;
  }

  get #address(): string {
    const { transport } = this.#options;
    return transport.kind === "websocket" ? displayAddress(transport.url) : "stdio";
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    await this.#keeper.load();
    while (!signal.aborted) {
      const end = await this.#connectOnce();
      this.#connection = undefined;
      this.#connectedSince = undefined;
      if (signal.aborted) return;
      this.#lastEnd = { ...end, at: this.#context.clock.wallNow() };
      const waitMs = this.#delay.after(end);
      const { id, log } = this.#context;
      log.info(
        { receiver: id, gateway: this.#address, ...end, retryInMs: Math.round(waitMs) },
        "the gateway is not connected",
      );
      await new Doorbell(this.#schedule).wait(waitMs, signal);
    }
  }

  async #connectOnce(): Promise<LinkEnd> {
    let connection: GatewayConnection;
    try {
      const { transport } = this.#options;
      const needsUrl = transport.kind === "websocket" && this.#parts.open === undefined;
      const url = needsUrl ? await urlWithCredentials(transport, this.#stop.signal) : undefined;
      if (this.#stop.signal.aborted) return { kind: "closed", text: "the collector stops" };
      connection = this.#newConnection(url);
    } catch (error) {
      return error instanceof AddressError ? error.end : { kind: "unreachable", text: errorInWords(error) };
    }
    this.#connection = connection;
    const end = await connection.run(() => this.#works());
    const { sessionBeingRead } = connection.observer ?? {};
    if (end.kind === "oversize" && sessionBeingRead !== undefined) this.#observer.tooLarge.add(sessionBeingRead);
    return end;
  }

  #newConnection(url: string | undefined): GatewayConnection {
    const options = { ...HERMES_DEFAULTS, ...this.#options };
    const { transport } = options;
    return new GatewayConnection({
      open: this.#parts.open ?? ((listener) => this.#openLink(listener, url)),
      clock: this.#context.clock,
      schedule: this.#schedule,
      policy: { ...options, isOwnProcess: transport.kind === "stdio" },
      observer: this.#observer,
      newConnectionId: this.#parts.newConnectionId ?? randomUUID,
      onLookFailed: (text) => {
        this.#lastFailure = { at: this.#context.clock.wallNow(), text };
      },
    });
  }

  #openLink(listener: LinkListener, url: string | undefined): FrameLink {
    const { transport, maxFrameBytes, readyTimeoutMs } = { ...HERMES_DEFAULTS, ...this.#options };
    if (transport.kind === "websocket") {
      return openWebSocketLink({ url: url ?? transport.url, maxFrameBytes, openTimeoutMs: readyTimeoutMs }, listener);
    }
    const { command = HERMES_DEFAULTS.command, environment = {}, workingDirectory = this.#context.folder } = transport;
    const stopTimeoutMs = STDIO_STOP_TIMEOUT_MS;
    return openStdioLink({ command, environment, workingDirectory, maxFrameBytes, stopTimeoutMs }, listener);
  }

  #works(): void {
    this.#delay.worked();
    if (this.#connectedSince !== undefined) return;
    this.#connectedSince = this.#context.clock.wallNow();
    this.#connections += 1;
    const { id, log } = this.#context;
    log.info(
      { receiver: id, gateway: this.#address, ...this.#connection?.session?.features },
      "the gateway is connected",
    );
    this.#parts.onConnected?.();
  }

  async #fetch(signal: AbortSignal): Promise<LifecycleSnapshot> {
    if (this.#connection === undefined) {
      throw new Error(`the gateway is not connected: ${this.#lastEnd?.text ?? "not yet"}`);
    }
    signal.throwIfAborted();
    return this.#connection.snapshot(signal);
  }
}
