import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import type { Intake } from "@agent-lifecycle/collector";
import {
  createMetrics,
  createOtlpGrpcReceiver,
  type OtlpGrpcOptions,
  type OtlpGrpcReceiver,
} from "@agent-lifecycle/collector/parts";
import { decodeExportResponseProtobuf, type ExportOutcome, type LifecycleEvent } from "@agent-lifecycle/proto";
import {
  type CallOptions,
  type ChannelCredentials,
  type ChannelOptions,
  Client,
  type ClientUnaryCall,
  credentials,
  Metadata,
  type ServiceError,
} from "@grpc/grpc-js";
import protobuf from "protobufjs";
import { onTestFinished } from "vitest";
import { otlpBody } from "./ingest-fixture.ts";

export const LOGS_EXPORT = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";

type RequestTelemetry = OtlpGrpcOptions["telemetry"];

/** Remembers how requests ended. */
export class RecordedRequests implements RequestTelemetry {
  readonly outcomes: string[] = [];
  readonly #waiting: (() => void)[] = [];

  countRequest(receiver: string, outcome: string): void {
    this.outcomes.push(`${receiver} ${outcome}`);
    for (const look of this.#waiting.splice(0)) look();
  }

  /** Resolves when this many requests have ended. */
  async ended(count: number): Promise<readonly string[]> {
    while (this.outcomes.length < count) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.outcomes;
  }
}

/** A real receiver on a free port of this machine, gone when the test is. */
export async function startGrpc(intake: Intake, options: Partial<OtlpGrpcOptions> = {}): Promise<OtlpGrpcReceiver> {
  const faults: unknown[] = [];
  const receiver = createOtlpGrpcReceiver({
    intake,
    port: 0,
    telemetry: createMetrics().telemetry,
    onError: (error) => faults.push(error),
    ...options,
  });
  await receiver.start();
  onTestFinished(async () => {
    await receiver.shutdown();
    if (options.onError === undefined && faults.length > 0) throw faults[0];
  });
  return receiver;
}

/** `host:port`, as gRPC clients want it. */
function addressOf(receiver: OtlpGrpcReceiver): string {
  return new URL(receiver.endpoint()).host;
}

/** A client with one connection of its own. */
export function grpcClient(
  receiver: OtlpGrpcReceiver,
  channelCredentials: ChannelCredentials = credentials.createInsecure(),
  options: ChannelOptions = {},
): Client {
  const client = new Client(addressOf(receiver), channelCredentials, {
    "grpc.use_local_subchannel_pool": 1,
    "grpc.enable_retries": 0,
    "grpc.max_send_message_length": -1,
    // Over TLS alone: what is asked for by its address has no name of its own.
    "grpc.ssl_target_name_override": "localhost",
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}

const { root } = protobuf.parse(`
  syntax = "proto3";
  message Status { int32 code = 1; string message = 2; repeated Any details = 3; }
  message Any { string type_url = 1; bytes value = 2; }
  message RetryInfo { Duration retry_delay = 1; }
  message Duration { int64 seconds = 1; int32 nanos = 2; }
  message BadRequest { repeated FieldViolation field_violations = 1; }
  message FieldViolation { string field = 1; string description = 2; }
`);

/** What a client makes of the details of a status, by a reflection of their schema. */
function detailsIn(metadata: Metadata): Readonly<Record<string, unknown>> {
  const [bytes] = metadata.get("grpc-status-details-bin");
  if (!Buffer.isBuffer(bytes)) return {};
  const status = root.lookupType("Status").decode(bytes) as unknown as {
    readonly details: readonly { readonly typeUrl: string; readonly value: Uint8Array }[];
  };
  return Object.fromEntries(
    status.details.map(({ typeUrl, value }) => {
      const name = typeUrl.replace("type.googleapis.com/google.rpc.", "");
      const type = root.lookupType(name);
      return [name, type.toObject(type.decode(value), { longs: Number })];
    }),
  );
}

/** How a call ended: `code` 0 with what the answer says, or the refusal with its details. */
export interface CallResult {
  readonly code: number;
  readonly text: string;
  readonly outcome: ExportOutcome | undefined;
  readonly answerBytes: number;
  readonly details: Readonly<Record<string, unknown>>;
  readonly metadata: Metadata;
}

export interface StartedCall {
  readonly call: ClientUnaryCall;
  readonly result: Promise<CallResult>;
}

export interface CallSettings extends CallOptions {
  readonly path?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

export function startExport(client: Client, message: Buffer, settings: CallSettings = {}): StartedCall {
  const { path = LOGS_EXPORT, metadata: entries = {}, ...options } = settings;
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(entries)) metadata.set(key, value);
  const asItIs = (bytes: Buffer): Buffer => bytes;
  const { promise, resolve } = Promise.withResolvers<CallResult>();
  const call = client.makeUnaryRequest(
    path,
    asItIs,
    asItIs,
    message,
    metadata,
    options,
    (error: ServiceError | null, answer?: Buffer) => {
      if (error === null && answer !== undefined) {
        const outcome = decodeExportResponseProtobuf(answer);
        resolve({ code: 0, text: "", outcome, answerBytes: answer.length, details: {}, metadata: new Metadata() });
        return;
      }
      const { code = -1, details = "", metadata: trailers = new Metadata() } = error ?? {};
      resolve({
        code,
        text: details,
        outcome: undefined,
        answerBytes: 0,
        details: detailsIn(trailers),
        metadata: trailers,
      });
    },
  );
  return { call, result: promise };
}

export function exportMessage(client: Client, message: Buffer, settings: CallSettings = {}): Promise<CallResult> {
  return startExport(client, message, settings).result;
}

export function exportEvents(
  client: Client,
  events: readonly LifecycleEvent[],
  settings: CallSettings = {},
): Promise<CallResult> {
  return exportMessage(client, otlpBody("protobuf", events), settings);
}

/** A connection on which a test speaks HTTP/2 itself: for what no gRPC client does. */
export async function rawConnection(receiver: OtlpGrpcReceiver): Promise<ClientHttp2Session> {
  const session = connect(receiver.endpoint());
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  await once(session, "connect");
  return session;
}

/** The headers of a call; what follows is up to the test. */
export function rawCall(
  session: ClientHttp2Session,
  headers: Readonly<Record<string, string>> = {},
): ClientHttp2Stream {
  const stream = session.request({
    [constants.HTTP2_HEADER_METHOD]: "POST",
    [constants.HTTP2_HEADER_PATH]: LOGS_EXPORT,
    [constants.HTTP2_HEADER_CONTENT_TYPE]: "application/grpc",
    [constants.HTTP2_HEADER_TE]: "trailers",
    ...headers,
  });
  stream.on("error", () => {});
  return stream;
}

/** A message as gRPC frames it. */
export function framed(message: Buffer, isCompressed = false): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(isCompressed ? 1 : 0, 0);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** The status a raw call is answered with, wherever it stands. */
export async function rawStatus(stream: ClientHttp2Stream): Promise<number> {
  const found = Promise.withResolvers<number>();
  const look = (headers: Readonly<Record<string, unknown>>): void => {
    if (headers["grpc-status"] !== undefined) found.resolve(Number(headers["grpc-status"]));
  };
  stream.on("response", look);
  stream.on("trailers", look);
  stream.once("close", () => found.reject(new Error(`the stream was closed with ${stream.rstCode}`)));
  stream.resume();
  return found.promise;
}
