import { Server, ServerCredentials, type ServerOptions } from "@grpc/grpc-js";
import { type Admission, OPEN_ADMISSION } from "../runtime/admission.ts";
import type { Component } from "../runtime/component.ts";
import type { Intake } from "../runtime/intake.ts";
import type { RequestTelemetry } from "../runtime/request-telemetry.ts";
import { type Schedule, scheduleUnreferenced } from "../runtime/schedule.ts";
import { type AccessControl, OPEN_ACCESS } from "../security/access-control.ts";
import type { CertificateSource } from "../security/certificates.ts";
import { createCallAdmission } from "./otlp-grpc-admission.ts";
import { ReceiveBudget } from "./otlp-grpc-budget.ts";
import { createGrpcListener } from "./otlp-grpc-listener.ts";
import { registerOtlpServices } from "./otlp-grpc-services.ts";

export interface OtlpGrpcOptions {
  readonly intake: Intake;
  readonly telemetry: RequestTelemetry;
  /** Hears of faults of ours; clients are told nothing of them. */
  readonly onError: (error: unknown) => void;
  /** Address to bind; `127.0.0.1` by default. */
  readonly host?: string;
  /** 0 takes any free port; 4317 by default. */
  readonly port?: number;
  /** Speaks TLS (1.2 or newer) and nothing else, with these certificates, which may be replaced on the way. */
  readonly tls?: CertificateSource;
  /** Who may send, and for which sources. Everybody by default. */
  readonly access?: AccessControl;
  /** Asked before anything of a message is read. By default everything is let in. */
  readonly admission?: Admission;
  /** Largest message, as sent and after decompression. Bytes; default 64 MiB. */
  readonly maxMessageBytes?: number;
  /**
   * All messages that are being received or stored, where one that is being received counts as the largest: this divided
   * by `maxMessageBytes` is the number of messages received at one time, at least 1; further calls wait, unread. Bytes;
   * default four of the largest. The library holds a compressed message up to four times while it is put together (its
   * pieces and the whole, as sent and decompressed): the memory that this bounds is at most four times as much.
   */
  readonly maxBodiesBytes?: number;
  /** Calls that wait to be received, each with at most 64 KiB; further ones are refused retryably. Default 256. */
  readonly maxWaitingCalls?: number;
  /** Calls at one time on one connection; the client holds back further ones. Default 128. */
  readonly maxCallsPerConnection?: number;
  /** Open connections; further ones are closed at once. Default 4,096. */
  readonly maxConnections?: number;
  /** Time a call has until its message is there, its wait included. Milliseconds; default 30,000. */
  readonly receiveTimeoutMs?: number;
  /** Time a client has for the TLS handshake. Milliseconds; default 10,000. */
  readonly handshakeTimeoutMs?: number;
  /** How long a connection without calls is kept. Milliseconds; default 300,000. */
  readonly idleTimeoutMs?: number;
  /** How long a connection is kept at all, give or take a tenth; clients connect anew. Milliseconds; default 3,600,000. */
  readonly maxConnectionAgeMs?: number;
  /** Time between two pings that find out whether the peer is still there. Milliseconds; default 60,000. */
  readonly keepaliveIntervalMs?: number;
  /** Time the peer has to answer a ping. Milliseconds; default 20,000. */
  readonly keepaliveTimeoutMs?: number;
  /** How long a shutdown waits for running calls before it cuts them. Milliseconds; default 5,000. */
  readonly shutdownTimeoutMs?: number;
  /** Default: timers that keep no process alive. */
  readonly schedule?: Schedule;
}

export interface OtlpGrpcReceiver extends Component {
  /** `http://host:port`, or `https:`, of the bound address. @throws Error while nothing is bound. */
  endpoint(): string;
}

const DEFAULTS = {
  host: "127.0.0.1",
  port: 4317,
  access: OPEN_ACCESS,
  admission: OPEN_ADMISSION,
  maxMessageBytes: 64 * 1024 * 1024,
  maxWaitingCalls: 256,
  maxCallsPerConnection: 128,
  maxConnections: 4_096,
  receiveTimeoutMs: 30_000,
  handshakeTimeoutMs: 10_000,
  idleTimeoutMs: 300_000,
  maxConnectionAgeMs: 3_600_000,
  keepaliveIntervalMs: 60_000,
  keepaliveTimeoutMs: 20_000,
  shutdownTimeoutMs: 5_000,
  schedule: scheduleUnreferenced,
} as const;

type Settings = OtlpGrpcOptions & Required<Omit<OtlpGrpcOptions, "tls" | "maxBodiesBytes">>;

/**
 * OTLP/gRPC for logs. A call is answered when what it brought is durable. It is judged by its headers before anything of
 * its message is held, waits its turn unread, and is bounded in size, time and number. Codes and details are those that
 * OTLP clients go by: UNAVAILABLE, or RESOURCE_EXHAUSTED with RetryInfo, asks them to come back, and nothing else does.
 * Traces, metrics and profiles are answered UNIMPLEMENTED.
 */
export function createOtlpGrpcReceiver(options: OtlpGrpcOptions): OtlpGrpcReceiver {
  const settings: Settings = { ...DEFAULTS, ...options };
  const { intake, onError, maxMessageBytes, schedule, shutdownTimeoutMs } = settings;
  const budget = new ReceiveBudget({
    maxMessageBytes,
    limitBytes: options.maxBodiesBytes ?? 4 * maxMessageBytes,
    maxWaiting: settings.maxWaitingCalls,
  });
  const admission = createCallAdmission({ ...settings, budget });
  const server = new Server(serverOptionsOf(settings, admission.interceptor));
  const services = registerOtlpServices(server, intake, admission, onError);
  // TLS is spoken by the listener: what it hands over is plain to the library, and still shows the client's certificate.
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const listener = createGrpcListener({ ...settings, onConnection: (socket) => injector.injectConnection(socket) });
  let starting: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;

  async function stop(): Promise<void> {
    admission.close();
    await starting?.catch(() => {});
    const cancel = schedule(() => listener.destroyConnections(), shutdownTimeoutMs);
    const ended = listener.close();
    // It asks the clients to leave, and calls back at once under this Node.js, whatever still runs.
    server.tryShutdown(() => {});
    await ended;
    cancel();
    listener.destroyConnections();
    await listener.closed;
    await services.settled();
  }

  return {
    start: async () => {
      if (stopping !== undefined) throw new Error("the receiver was shut down before it could start");
      starting = listener.listen();
      await starting;
    },
    shutdown: () => {
      stopping ??= stop();
      return stopping;
    },
    endpoint: () => listener.endpoint(),
  };
}

/** Clients whose connection has reached its age have this long to finish their calls. */
const AGE_GRACE_MS = 30_000;
/** A partial success names five records at most. */
const MAX_ANSWER_BYTES = 64 * 1024;

function serverOptionsOf(
  settings: Settings,
  interceptor: ReturnType<typeof createCallAdmission>["interceptor"],
): ServerOptions {
  return {
    interceptors: [interceptor],
    "grpc.max_receive_message_length": settings.maxMessageBytes,
    "grpc.max_send_message_length": MAX_ANSWER_BYTES,
    "grpc.max_concurrent_streams": settings.maxCallsPerConnection,
    "grpc.max_connection_age_ms": settings.maxConnectionAgeMs,
    "grpc.max_connection_age_grace_ms": AGE_GRACE_MS,
    "grpc.max_connection_idle_ms": settings.idleTimeoutMs,
    "grpc.keepalive_time_ms": settings.keepaliveIntervalMs,
    "grpc.keepalive_timeout_ms": settings.keepaliveTimeoutMs,
    "grpc.enable_channelz": 0,
  };
}
