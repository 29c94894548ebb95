import {
  type Capabilities,
  capabilitiesFrom,
  type Details,
  type EventKind,
  isLegalEdge,
  isTerminal,
  type Lineage,
  MAX_IDENTIFIER_LENGTH,
  NO_CAPABILITIES,
  type State,
  type VisibilityContract,
} from "@agent-lifecycle/proto";
import { boundedText } from "./argument.ts";
import type { Child } from "./child.ts";
import type { ResolvedChild, RetryOptions } from "./child-options.ts";
import type { Diagnostics } from "./diagnostics.ts";
import type { ChildIdentity } from "./event-builder.ts";
import { causeMembers, type DetailsInput, eventDetails, type WaitingReason, waitingMember } from "./event-details.ts";
import type { EventEmitter } from "./event-emitter.ts";
import type { HeartbeatMember, HeartbeatSchedule } from "./heartbeat.ts";
import { type Carrier, type ChildReference, WORKER_DATA_MEMBER } from "./lineage/carrier.ts";
import { runFor } from "./lineage/current-child.ts";
import { VISIBILITY_VARIABLE, type VisibilityChild, type VisibilityOptions } from "./visibility.ts";

/** What a handle needs of its lifecycle. */
export interface ChildHost {
  readonly source: string;
  readonly sourceEpoch: string;
  readonly emitter: EventEmitter;
  readonly diagnostics: Diagnostics;
  readonly heartbeats: HeartbeatSchedule;
  readonly heartbeatsEnabled: boolean;
  readonly createId: () => string;
  /** The child after one that has ended. */
  readonly createRetry: (previous: ResolvedChild, options: RetryOptions | undefined) => Child;
  /** A handle that emits nothing, for a retry that is not allowed. */
  readonly createInert: (previous: ResolvedChild) => Child;
  readonly onEnded: (childId: string) => void;
  /** What is to travel to processes and threads that work for the child. */
  readonly carrierFor: (child: ChildReference) => Carrier;
  readonly visibilityOf: (child: VisibilityChild, options: VisibilityOptions | undefined) => VisibilityContract;
}

/** Digits of the largest safe integer. */
const LONGEST_SEQUENCE = 16;

export class ChildHandle implements Child, HeartbeatMember {
  readonly childId: string;
  readonly lineage: Lineage;
  readonly #host: ChildHost;
  readonly #resolved: ResolvedChild;
  readonly #identity: ChildIdentity;
  readonly #capabilities: Capabilities;
  readonly #sendsHeartbeats: boolean;
  readonly #inert: boolean;
  readonly #eventIdPrefix: string | undefined;
  #state: State;
  #sequence = 0;

  constructor(host: ChildHost, resolved: ResolvedChild, inert = false) {
    this.#host = host;
    this.#resolved = resolved;
    this.#inert = inert;
    this.childId = resolved.childId;
    this.lineage = resolved.lineage;
    this.#identity = {
      source: host.source,
      sourceEpoch: host.sourceEpoch,
      childId: this.childId,
      lineage: this.lineage,
    };
    this.#state = resolved.observedState;
    this.#sendsHeartbeats = resolved.automaticHeartbeats && host.heartbeatsEnabled && !inert;
    this.#capabilities = capabilitiesFrom({
      ...(this.#sendsHeartbeats ? { heartbeat: "known" } : undefined),
      ...resolved.capabilities,
    });
    const prefix = `${this.childId}/${host.sourceEpoch}/`;
    this.#eventIdPrefix = prefix.length + LONGEST_SEQUENCE <= MAX_IDENTIFIER_LENGTH ? prefix : undefined;
  }

  get state(): State {
    return this.#state;
  }

  /**
   * Emits the first event; called once, by the lifecycle. Heartbeats begin with it: it says that they are known, and a
   * child that waits for its turn must not be taken for lost.
   */
  begin(): void {
    const details = this.#details(this.#resolved.details, undefined);
    this.#emit(this.#state === "created" ? "created" : "state_changed", this.#state, undefined, details);
    if (this.#sendsHeartbeats) this.#host.heartbeats.add(this);
  }

  starting(details?: DetailsInput): void {
    this.#transition("starting", details, undefined);
  }

  running(details?: DetailsInput): void {
    this.#transition("running", details, undefined);
  }

  waiting(reason?: WaitingReason, details?: DetailsInput): void {
    this.#transition("waiting", details, () => waitingMember(reason));
  }

  completed(details?: DetailsInput): void {
    this.#transition("completed", details, undefined);
  }

  failed(cause?: unknown, details?: DetailsInput): void {
    this.#transition("failed", details, () => causeMembers(cause, this.childId, this.#host.diagnostics));
  }

  cancelled(details?: DetailsInput): void {
    this.#transition("cancelled", details, undefined);
  }

  activity(text: string, details?: DetailsInput): void {
    this.#say("activity", text, details);
  }

  diagnostic(text: string, details?: DetailsInput): void {
    this.#say("diagnostic", text, details);
  }

  heartbeat(details?: DetailsInput): void {
    this.#guarded(() => this.#sign("heartbeat", undefined, this.#details(details, undefined)));
  }

  beat(): void {
    this.heartbeat();
  }

  retry(options?: RetryOptions): Child {
    try {
      if (isTerminal(this.#state) && !this.#inert) return this.#host.createRetry(this.#resolved, options);
      this.#refuseTransition(`a retry follows an ending, not ${this.#state}`);
    } catch (error) {
      this.#host.diagnostics.internalError(error);
    }
    return this.#host.createInert(this.#resolved);
  }

  visibilityContract(options?: VisibilityOptions): VisibilityContract {
    const { rootChildId, parentChildId, attempt } = this.lineage;
    const parent = parentChildId === undefined ? undefined : { parentChildId };
    return this.#host.visibilityOf(
      { childId: this.childId, rootChildId, ...parent, attempt },
      { ...options, capabilities: { ...this.#capabilities, ...options?.capabilities } },
    );
  }

  declareVisibility(options?: VisibilityOptions): void {
    this.#say("diagnostic", "declares how it can be seen", { visibilityContract: this.visibilityContract(options) });
  }

  run<Result>(work: () => Result): Result {
    return runFor(this.#reference, work);
  }

  environment(base: Readonly<Record<string, string | undefined>> = process.env): Record<string, string | undefined> {
    return { ...base, ...this.#carrier() };
  }

  workerData<Data extends object>(own?: Data): Data & { readonly agentLifecycle: Carrier } {
    return { ...(own as Data), [WORKER_DATA_MEMBER]: this.#carrier() } as Data & { readonly agentLifecycle: Carrier };
  }

  get #reference(): ChildReference {
    return { childId: this.childId, rootChildId: this.lineage.rootChildId };
  }

  #carrier(): Carrier {
    try {
      const contract = JSON.stringify(this.visibilityContract());
      return { ...this.#host.carrierFor(this.#reference), [VISIBILITY_VARIABLE]: contract };
    } catch (error) {
      this.#host.diagnostics.internalError(error);
      return {};
    }
  }

  #say(kind: "activity" | "diagnostic", text: unknown, details: DetailsInput | undefined): void {
    this.#guarded(() => {
      if (typeof text !== "string") this.#refuseArgument("text", `${kind} must be a text`);
      else this.#sign(kind, boundedText(text), this.#details(details, undefined));
    });
  }

  #transition(
    to: State,
    given: DetailsInput | undefined,
    own: (() => Readonly<Record<string, unknown>> | undefined) | undefined,
  ): void {
    this.#guarded(() => {
      // Reading the host's details may run the host's code, which may call this handle: the edge is checked after it.
      const details = this.#details(given, own?.());
      if (this.#inert || !isLegalEdge(this.#state, to)) {
        this.#refuseTransition(`${this.#state} → ${to}`);
        return;
      }
      this.#state = to;
      this.#emit(isTerminal(to) ? "terminal" : "state_changed", to, undefined, details);
      if (isTerminal(to)) this.#end();
    });
  }

  /** Evidence that changes no state. */
  #sign(
    kind: "activity" | "heartbeat" | "diagnostic",
    activity: string | undefined,
    details: Details | undefined,
  ): void {
    if (this.#inert || isTerminal(this.#state)) this.#refuseTransition(`${kind} in ${this.#state}`);
    else this.#emit(kind, undefined, activity, details);
  }

  #emit(kind: EventKind, state: State | undefined, activity: string | undefined, details: Details | undefined): void {
    const sequence = this.#sequence + 1;
    this.#sequence = sequence;
    const eventId = this.#eventIdPrefix === undefined ? this.#host.createId() : this.#eventIdPrefix + sequence;
    // With every state, not only the first: the event that said it may be the one that is lost.
    const capabilities = state === undefined ? NO_CAPABILITIES : this.#capabilities;
    this.#host.emitter.emit(this.#identity, { kind, state, activity, details, capabilities }, eventId, sequence);
  }

  #end(): void {
    this.#host.heartbeats.remove(this);
    this.#host.onEnded(this.childId);
  }

  #details(given: unknown, own: Readonly<Record<string, unknown>> | undefined): Details | undefined {
    return eventDetails(given, own, this.childId, this.#host.diagnostics);
  }

  #refuseTransition(message: string): void {
    const code = isTerminal(this.#state) ? "terminal_immutable" : "illegal_transition";
    this.#host.diagnostics.report(code, message, { childId: this.childId });
  }

  #refuseArgument(path: string, message: string): void {
    this.#host.diagnostics.report("invalid_argument", message, { path, childId: this.childId });
  }

  #guarded(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#host.diagnostics.internalError(error);
    }
  }
}
