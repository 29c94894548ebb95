import type { LifecycleSnapshot } from "@agent-lifecycle/proto";
import type { Lifecycle } from "../lifecycle.ts";
import { LifecycleHandle } from "../lifecycle-handle.ts";
import { ChildRegister } from "./child-register.ts";
import { type LoopbackServer, startLoopbackServer } from "./loopback-server.ts";
import { createSnapshotHandler, type SnapshotHandler } from "./snapshot-handler.ts";
import { createSnapshotLook, type SnapshotLook } from "./snapshot-look.ts";
import { type ResolvedSnapshotOptions, resolveSnapshotOptions, type SnapshotOptions } from "./snapshot-options.ts";

/** Answers for the children of one lifecycle. No method throws. */
export interface SnapshotService extends AsyncDisposable {
  /**
   * For a server of the host's own: answers a GET or HEAD with the snapshot, a 304 to an entity tag that is still right,
   * 401 without the token, 405 to other methods, and 503 when nothing is told any more. It reads no body.
   */
  readonly handler: SnapshotHandler;
  /** Where the own server answers, once it listens; `undefined` when there is none, or it cannot listen. */
  readonly url: Promise<string | undefined>;
  /** What would be answered now; `undefined` when nothing is told any more. */
  snapshot(): LifecycleSnapshot | undefined;
  /** Says nothing more of a child, as when somebody else reports it from now on. */
  release(childId: string): void;
  /** Ends the answers and the own server, at once. The lifecycle's shutdown does so too. */
  close(): Promise<void>;
}

/**
 * Makes a lifecycle the authority for its own children (contract, section 5): a collector that asks learns who lives, and
 * how those ended whose last event was lost. Call it before the first child begins: of those that began earlier nothing
 * is told until their next state.
 *
 * Told of are state, sequence, latest activity, lineage, capabilities and names. An adopted child without heartbeats is
 * told of only when it has ended: nobody here can say that it still lives. Memory is bounded by `maxChildren`.
 *
 * Never throws: what cannot be used is a diagnostic of the lifecycle (`invalid_configuration`).
 */
export function serveSnapshots(lifecycle: Lifecycle, options?: SnapshotOptions): SnapshotService {
  return lifecycle instanceof LifecycleHandle ? new RunningService(lifecycle, options) : new RunningService(undefined);
}

class RunningService implements SnapshotService {
  readonly handler: SnapshotHandler;
  readonly url: Promise<string | undefined>;
  #register: ChildRegister | undefined;
  #look: (() => SnapshotLook | undefined) | undefined;
  #server: LoopbackServer | undefined;
  #onError: (error: unknown) => void = () => {};

  constructor(lifecycle: LifecycleHandle | undefined, given?: SnapshotOptions) {
    let resolved: ResolvedSnapshotOptions | undefined;
    try {
      resolved = lifecycle === undefined ? undefined : this.#attach(lifecycle, given);
    } catch (error) {
      this.#onError(error);
    }
    this.handler = createSnapshotHandler({
      token: resolved?.token,
      look: () => this.#look?.(),
      onError: (error) => this.#onError(error),
    });
    this.url = this.#listen(resolved?.listen);
  }

  snapshot(): LifecycleSnapshot | undefined {
    try {
      return this.#look?.()?.snapshot;
    } catch (error) {
      this.#onError(error);
      return undefined;
    }
  }

  release(childId: string): void {
    this.#register?.release(childId);
  }

  async close(): Promise<void> {
    this.#look = undefined;
    this.#register = undefined;
    await this.#server?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #attach(lifecycle: LifecycleHandle, given: SnapshotOptions | undefined): ResolvedSnapshotOptions | undefined {
    const { clock, createId, diagnostics, hasEmitted, isShutDown } = lifecycle.attach((event) =>
      this.#register?.witness(event),
    );
    this.#onError = (error) => diagnostics.internalError(error);
    const resolved = resolveSnapshotOptions(given, (path, rule) =>
      diagnostics.report("invalid_configuration", `${path} ${rule}`, { path }),
    );
    if (resolved === undefined) return undefined;
    const register = new ChildRegister(resolved, hasEmitted);
    const { source, sourceEpoch } = lifecycle;
    const look = createSnapshotLook(register, { source, sourceEpoch, coverage: resolved.coverage, clock, createId });
    this.#register = register;
    // What children do after a shutdown is heard by nobody: what was known before is not known any more.
    this.#look = () => (isShutDown() ? undefined : look());
    lifecycle.onShutdown(() => void this.close());
    return resolved;
  }

  async #listen(listen: ResolvedSnapshotOptions["listen"]): Promise<string | undefined> {
    if (listen === undefined) return undefined;
    try {
      this.#server = startLoopbackServer({ ...listen, handler: this.handler });
      return await this.#server.url;
    } catch (error) {
      this.#onError(error);
      return undefined;
    }
  }
}
