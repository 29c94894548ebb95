import { decodeExportResponseProtobuf, decodeStatusProtobuf } from "@agent-lifecycle/proto";
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import type { ClientTls } from "./http-sender.ts";
import type { RequestSender, SendOutcome, Signal } from "./send-outcome.ts";

export interface GrpcSenderOptions {
  /** `host:port`. */
  readonly target: string;
  readonly signal: Signal;
  readonly headers: ReadonlyMap<string, string>;
  readonly compression: "gzip" | "none";
  /** `undefined`: plain text. */
  readonly tls: ClientTls | undefined;
  /** For one exchange. Milliseconds. */
  readonly timeoutMs: number;
}

const METHODS: Readonly<Record<Signal, string>> = {
  logs: "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
  traces: "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
  metrics: "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
};

/** Number of gzip in gRPC's list of compressions. */
const GZIP = 2;
const NONE = 0;

/** Calls one OTLP/gRPC service. The library connects again by itself; left alone it would wait for minutes to do so. */
export function createGrpcSender(options: GrpcSenderOptions): RequestSender {
  const { target, signal: kind, headers, compression, tls, timeoutMs } = options;
  const client = new Client(
    target,
    tls === undefined
      ? credentials.createInsecure()
      : credentials.createSsl(tls.ca ?? null, tls.key ?? null, tls.cert ?? null),
    {
      "grpc.default_compression_algorithm": compression === "gzip" ? GZIP : NONE,
      "grpc.initial_reconnect_backoff_ms": 500,
      "grpc.max_reconnect_backoff_ms": 10_000,
    },
  );
  const metadata = new Metadata();
  for (const [name, value] of headers) metadata.set(name, value);
  return {
    send: (body, signal) =>
      new Promise((resolve) => {
        const call = client.makeUnaryRequest(
          METHODS[kind],
          asBuffer,
          (bytes: Buffer) => bytes,
          body,
          metadata,
          { deadline: Date.now() + timeoutMs },
          (error, response) => {
            signal.removeEventListener("abort", cancel);
            if (error !== null) resolve(outcomeOfError(error));
            else resolve(taken(response));
          },
        );
        const cancel = (): void => call.cancel();
        if (signal.aborted) cancel();
        else signal.addEventListener("abort", cancel, { once: true });
      }),
    close: async () => client.close(),
  };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function taken(response: Buffer | undefined): SendOutcome {
  const decoded = response === undefined ? undefined : decodeExportResponseProtobuf(response);
  return { kind: "taken", rejected: decoded?.rejectedLogRecords ?? 0, message: decoded?.errorMessage ?? "" };
}

const REFUSED: ReadonlySet<number> = new Set([status.INVALID_ARGUMENT]);
/** The request may be to blame, or the destination. */
const FAILED: ReadonlySet<number> = new Set([
  status.UNKNOWN,
  status.INTERNAL,
  status.FAILED_PRECONDITION,
  status.ALREADY_EXISTS,
]);

/** As OTLP/gRPC reads codes, but for what the configuration is to blame for: see `outcomeOfHttp`. */
function outcomeOfError({ code, details, metadata }: ServiceError): SendOutcome {
  const reason = `gRPC ${status[code] ?? code}: ${details}`;
  const [trailer] = metadata.get("grpc-status-details-bin");
  const retryDelayMs = trailer instanceof Buffer ? decodeStatusProtobuf(trailer)?.retryDelayMs : undefined;
  // Without a time to come back at, the request is too large for the destination, now and later.
  if (code === status.RESOURCE_EXHAUSTED && retryDelayMs === undefined) return { kind: "refused", reason };
  if (REFUSED.has(code)) return { kind: "refused", reason };
  if (FAILED.has(code)) return { kind: "failed", reason };
  // "At once" is no wish to keep to for as long as an outage lasts: the waits grow all the same.
  const hasDelay = retryDelayMs !== undefined && retryDelayMs > 0;
  return { kind: "later", reason, ...(hasDelay ? { afterMs: retryDelayMs } : undefined) };
}
