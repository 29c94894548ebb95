import type { LifecycleSnapshot } from "@agent-lifecycle/proto";
import type { Clock } from "../../runtime/clock.ts";
import type { Schedule } from "../../runtime/schedule.ts";
import { errorInWords } from "./display-text.ts";
import { Doorbell } from "./doorbell.ts";
import type { LinkEnd, OpenLink } from "./frame-link.ts";
import { type Ask, capabilitiesOf, type Detection, detectFeatures } from "./gateway-features.ts";
import type { GatewayEvent } from "./gateway-frame.ts";
import { GatewayObserver, isAboutChild, type ObserverParts } from "./gateway-observer.ts";
import type { GatewaySession } from "./gateway-session.ts";
import { HeldEvents } from "./held-events.ts";
import { JsonRpcPeer } from "./json-rpc-peer.ts";
import { EpochChangedError } from "./session-streams.ts";

export interface ConnectionPolicy {
  readonly pollIntervalMs: number;
  readonly requestTimeoutMs: number;
  readonly readyTimeoutMs: number;
  readonly silenceTimeoutMs: number;
  readonly attach: boolean;
  readonly cancel: boolean;
  /** The gateway is ours: frames of its sessions reach us unasked. */
  readonly isOwnProcess: boolean;
}

export interface ConnectionParts {
  readonly open: OpenLink;
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly policy: ConnectionPolicy;
  readonly observer: ObserverParts;
  /** A name that nothing else has. */
  readonly newConnectionId: () => string;
  readonly onLookFailed: (text: string) => void;
}

const MAX_REQUESTS_IN_FLIGHT = 64;
/** However often the gateway calls, looks are so far apart. */
const MIN_PAUSE_MS = 50;

/** One connection to the gateway, from its first frame to its end. */
export class GatewayConnection {
  readonly #parts: ConnectionParts;
  readonly #peer: JsonRpcPeer;
  readonly #doorbell: Doorbell;
  readonly #ready = Promise.withResolvers<GatewayEvent>();
  readonly #stop = new AbortController();
  #lastFrameAt: number;
  readonly #held = new HeldEvents();
  #observer: GatewayObserver | undefined;
  #session: GatewaySession | undefined;
  #cancelWatch: (() => void) | undefined;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#doorbell = new Doorbell(parts.schedule);
    this.#lastFrameAt = parts.clock.monotonicNow();
    const { problems } = parts.observer;
    this.#peer = new JsonRpcPeer({
      open: parts.open,
      schedule: parts.schedule,
      maxRequestsInFlight: MAX_REQUESTS_IN_FLIGHT,
      onFrame: () => {
        this.#lastFrameAt = parts.clock.monotonicNow();
      },
      onEvent: (event, characters) => this.#hear(event, characters),
      // Nothing of it is quoted: a gateway's frames hold goals, thoughts and answers, and nobody knows what this one is.
      onUnreadable: (text) =>
        problems.add("malformed", "frame", `${text.length} characters are no reply, event or request`),
    });
  }

  /** Known once the gateway has shown what it does. */
  get session(): GatewaySession | undefined {
    return this.#session;
  }

  get observer(): GatewayObserver | undefined {
    return this.#observer;
  }

  /** Ends the connection; `run` resolves soon after. */
  stop(): void {
    this.#peer.end({ kind: "closed", text: "the collector stops" });
  }

  /** Looks until the connection ends, and tells how it did. Never rejects. @param onWorking hears of each look */
  async run(onWorking: () => void): Promise<LinkEnd> {
    const ended = this.#peer.ended.then((end) => {
      this.#stop.abort();
      return end;
    });
    this.#watch();
    try {
      await this.#open();
      while (!this.#stop.signal.aborted) {
        await this.#lookOnce(onWorking);
        await this.#pause();
      }
    } catch (error) {
      this.#peer.end({ kind: "lost", text: errorInWords(error) });
    }
    this.#cancelWatch?.();
    const end = await ended;
    await this.#observer?.settle();
    await this.#peer.gone;
    return end;
  }

  /** Who runs, for somebody who asked for it. */
  snapshot(signal: AbortSignal): Promise<LifecycleSnapshot> {
    return this.#observer === undefined
      ? Promise.reject(new Error("the gateway is not ready yet"))
      : this.#observer.snapshot(signal);
  }

  readonly ask: Ask = (method, params) => this.#peer.request(method, params, this.#parts.policy.requestTimeoutMs);

  async #open(): Promise<void> {
    const { policy, observer, newConnectionId } = this.#parts;
    const ready = await this.#firstFrame();
    const detection: Detection = await detectFeatures(ready, this.ask, {
      mayAttach: policy.attach,
      mayCancel: policy.cancel,
    });
    const { features, replayEpoch } = detection;
    const connectionId = newConnectionId();
    const epoch = replayEpoch ?? connectionId;
    const isAttaching = policy.attach && features.sharedSessions && features.replay;
    const receivesFrames = policy.isOwnProcess;
    const capabilities = capabilitiesOf(features, { receivesFrames, mayCancel: policy.cancel, isAttaching });
    observer.watermarks.enterEpoch(epoch);
    observer.problems.begin();
    this.#session = { ask: this.ask, features, epoch, connectionId, capabilities, isAttaching };
    this.#observer = new GatewayObserver(observer, this.#session, this.#held);
  }

  async #firstFrame(): Promise<GatewayEvent> {
    const { schedule, policy } = this.#parts;
    const cancel = schedule(() => {
      this.#peer.end({ kind: "unresponsive", text: `not ready within ${policy.readyTimeoutMs} ms` });
    }, policy.readyTimeoutMs);
    const event = await Promise.race([this.#ready.promise, this.#peer.ended.then(() => undefined)]);
    cancel();
    if (event === undefined) throw new Error("the connection ended before the gateway was ready");
    return event;
  }

  #hear(event: GatewayEvent, characters: number): void {
    if (event.type === "gateway.ready") this.#ready.resolve(event);
    // While the gateway is still being asked what it does, nobody knows yet whether its frames can be read elsewhere.
    else if (this.#observer === undefined) {
      if (isAboutChild(event)) this.#held.add(event, characters);
    } else if (this.#observer.push(event, characters)) this.#doorbell.ring();
  }

  /** A look that fails concludes nothing; only another run of the gateway behind the same link ends the connection. */
  async #lookOnce(onWorking: () => void): Promise<void> {
    try {
      await this.#observer?.look();
      onWorking();
    } catch (error) {
      if (error instanceof EpochChangedError) throw error;
      if (!this.#stop.signal.aborted) this.#parts.onLookFailed(errorInWords(error));
    }
  }

  async #pause(): Promise<void> {
    const { schedule, policy } = this.#parts;
    const { signal } = this.#stop;
    const shortest = Math.min(MIN_PAUSE_MS, policy.pollIntervalMs);
    await new Doorbell(schedule).wait(shortest, signal);
    await this.#doorbell.wait(policy.pollIntervalMs - shortest, signal);
  }

  /**
   * A half-open connection looks like a quiet one: without any frame for a while, the gateway is asked for a sign of life.
   * Whatever it answers is one, an unknown method included.
   */
  #watch(): void {
    const { schedule, clock } = this.#parts;
    const { silenceTimeoutMs } = this.#parts.policy;
    const pingIntervalMs = silenceTimeoutMs / 3;
    this.#cancelWatch = schedule(() => {
      const silenceMs = clock.monotonicNow() - this.#lastFrameAt;
      if (silenceMs >= silenceTimeoutMs) {
        this.#peer.end({ kind: "unresponsive", text: `no sign of life for ${Math.round(silenceMs)} ms` });
        return;
      }
      if (silenceMs >= pingIntervalMs && this.#session !== undefined) this.ask("gateway.ping", {}).catch(() => {});
      this.#watch();
    }, pingIntervalMs);
  }
}
