import { X509Certificate } from "node:crypto";
import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  status as STATUS,
} from "@grpc/grpc-js";
import { HttpRefusal, refusalOf, retryLater } from "../http/http-refusal.ts";
import type { Admission } from "../runtime/admission.ts";
import type { RequestOutcome, RequestTelemetry } from "../runtime/request-telemetry.ts";
import type { Schedule } from "../runtime/schedule.ts";
import type { AccessControl, Credentials, Principal } from "../security/access-control.ts";
import { clientCertificateOf } from "../security/client-certificate.ts";
import { intakeRefusal } from "./intake-refusal.ts";
import { rpcStatusOf } from "./otlp-export.ts";
import type { ReceiveBudget, ReceiveLease } from "./otlp-grpc-budget.ts";
import { type CallStatus, callStatusBeforeMessage, callStatusOf, requestOutcomeOf } from "./otlp-grpc-status.ts";

export const RECEIVER = "otlp_grpc";
export const LOGS_EXPORT = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";

/** A call whose message is there. */
export interface AdmittedCall {
  readonly principal: Principal;
  /** The handler has done with the message. */
  release(): void;
}

export interface CallAdmissionParts {
  readonly access: AccessControl;
  readonly admission: Admission;
  readonly budget: ReceiveBudget;
  readonly telemetry: RequestTelemetry;
  readonly schedule: Schedule;
  /** Time a call has until its message is there, its wait included. */
  readonly receiveTimeoutMs: number;
  readonly onError: (error: unknown) => void;
}

export interface CallAdmission {
  readonly interceptor: ServerInterceptor;
  /** What was found out about a call that has reached its handler. */
  admitted(metadata: Metadata): AdmittedCall | undefined;
  /** Lets no further message in; those that are being received may still come. */
  close(): void;
}

/**
 * Decides about a call while all there is of it are its headers: its stream is paused until its turn comes. Whoever may
 * not send, comes too often or comes when there is no room is answered before a byte of a message is held.
 */
export function createCallAdmission(parts: CallAdmissionParts): CallAdmission {
  const admitted = new WeakMap<Metadata, AdmittedCall>();
  const unread = new Set<CallInProgress>();
  let isClosed = false;
  return {
    interceptor: ({ path }, call) => {
      const progress = new CallInProgress(call, parts, () => unread.delete(progress));
      return new ServerInterceptingCall(call, {
        start: (next) => {
          next({
            onReceiveMetadata: (metadata, proceed) => {
              try {
                const principal = letIn(path, metadata, call, parts);
                if (isClosed) throw retryLater("unavailable", "the collector is shutting down");
                admitted.set(metadata, { principal, release: () => progress.release() });
                unread.add(progress);
                progress.awaitTurn(sharingKeyOf(principal, call), () => {
                  unread.delete(progress);
                  proceed(metadata);
                });
              } catch (error) {
                progress.refuse(error);
              }
            },
            onReceiveMessage: (message, proceed) => {
              progress.noteMessage(Buffer.isBuffer(message) ? message.length : 0);
              proceed(message);
            },
            onReceiveHalfClose: (proceed) => {
              // A call that is broken off looks like one that ended without a message; a moment later one knows.
              if (!progress.hasMessage) {
                setImmediate(proceed);
                return;
              }
              progress.handOver();
              proceed();
            },
            onCancel: () => progress.end("aborted"),
          });
        },
      });
    },
    admitted: (metadata) => admitted.get(metadata),
    close: () => {
      isClosed = true;
      for (const progress of [...unread]) progress.refuse(retryLater("unavailable", "the collector is shutting down"));
    },
  };
}

/** @throws HttpRefusal */
function letIn(
  path: string,
  metadata: Metadata,
  call: ServerInterceptingCallInterface,
  { access, admission }: CallAdmissionParts,
): Principal {
  const decision = access.authorize("ingest", credentialsOf(metadata, call));
  if (!decision.allowed) {
    throw new HttpRefusal(decision.reason === "unauthenticated" ? "unauthorized" : "forbidden", decision.text);
  }
  // The code for it over gRPC is UNIMPLEMENTED: a sender that is told so does not try again.
  if (path !== LOGS_EXPORT) throw new HttpRefusal("method_not_allowed", "this collector takes logs only");
  const refusal = admission.refusal(decision.principal.name);
  if (refusal !== undefined) throw intakeRefusal(refusal);
  return decision.principal;
}

function credentialsOf(metadata: Metadata, call: ServerInterceptingCallInterface): Credentials {
  const [authorization] = metadata.get("authorization");
  const { sslPeerCertificate } = call.getAuthContext();
  return {
    authorization: typeof authorization === "string" ? authorization : undefined,
    ...(sslPeerCertificate === undefined
      ? undefined
      : { certificate: clientCertificateOf(new X509Certificate(sslPeerCertificate.raw)) }),
  };
}

function sharingKeyOf({ name }: Principal, call: ServerInterceptingCallInterface): string {
  return `${call.getConnectionInfo().remoteAddress ?? ""} ${name}`;
}

/** One call, from its headers to its answer. It is answered, counted and paid for once, whoever ends it. */
class CallInProgress {
  readonly #parts: CallAdmissionParts;
  readonly #answer: (status: CallStatus) => void;
  readonly #forget: () => void;
  #lease: ReceiveLease | undefined;
  #cancelTimeout: () => void = () => {};
  #messageBytes: number | undefined;
  #isReading = false;
  #isHandedOver = false;
  #isReleased = false;
  #isEnded = false;

  constructor(call: ServerInterceptingCallInterface, parts: CallAdmissionParts, forget: () => void) {
    this.#parts = parts;
    this.#forget = forget;
    // The library refuses messages that are too large or broken by this method, and tells no interceptor.
    const sendStatus = call.sendStatus.bind(call);
    this.#answer = (status) => {
      this.end(requestOutcomeOf(status.code));
      sendStatus({ ...status });
    };
    call.sendStatus = (status) => {
      const { code, details } = status;
      if (this.#isHandedOver || code === STATUS.DEADLINE_EXCEEDED) {
        this.end(requestOutcomeOf(code));
        sendStatus(status);
      } else {
        this.#answer(callStatusBeforeMessage(code, details));
      }
    };
  }

  /** @throws HttpRefusal `overloaded` when too many wait already. */
  awaitTurn(sharingKey: string, onTurn: () => void): void {
    const { budget, schedule, receiveTimeoutMs } = this.#parts;
    this.#lease = budget.enter({
      sharingKey,
      onTurn: () => {
        this.#isReading = true;
        onTurn();
      },
    });
    if (this.#lease === undefined) throw retryLater("overloaded", "too many calls are waiting to be received");
    this.#cancelTimeout = schedule(() => this.#timeOut(), receiveTimeoutMs);
  }

  #timeOut(): void {
    if (!this.#isReading) {
      this.refuse(retryLater("overloaded", "too many messages are being received at once"));
      return;
    }
    const message = `the message was not sent within ${this.#parts.receiveTimeoutMs} ms`;
    this.#answer(callStatusOf({ code: STATUS.DEADLINE_EXCEEDED, message }));
  }

  get hasMessage(): boolean {
    return this.#messageBytes !== undefined;
  }

  noteMessage(bytes: number): void {
    this.#messageBytes = (this.#messageBytes ?? 0) + bytes;
  }

  /** Not before the client has said that nothing more comes: a second message would be held beside the first. */
  handOver(): void {
    this.#isHandedOver = true;
    this.#cancelTimeout();
    this.#lease?.settle(this.#messageBytes ?? 0);
  }

  /** Answers with what was thrown before the handler ran. */
  refuse(error: unknown): void {
    this.#answer(callStatusOf(rpcStatusOf(refusalOf(error, this.#parts.onError))));
  }

  release(): void {
    this.#isReleased = true;
    this.#lease?.release();
  }

  /** The call is over for its client. What its message takes stays taken as long as the handler has it. */
  end(outcome: RequestOutcome): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#cancelTimeout();
    this.#forget();
    this.#parts.telemetry.countRequest(RECEIVER, outcome);
    if (!this.#isHandedOver && !this.#isReleased) this.release();
  }
}
