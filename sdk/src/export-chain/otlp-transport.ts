import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { IExportLogsServiceResponse, ISerializer } from "@opentelemetry/otlp-transformer";
import type { ReadableLogRecord } from "@opentelemetry/sdk-logs";
import type { OtlpConfiguration } from "../configuration-otlp.ts";
import { textOfError } from "../diagnostics.ts";
import { SDK_VERSION } from "../version.ts";
import type { BatchTransport, DeliveryOutcome } from "./delivery-outcome.ts";
import { sendInHalves } from "./halving.ts";
import { createHttpClient, type HttpAnswer, type HttpClient, type TlsMaterial } from "./http-post.ts";
import { outcomeOfAnswer } from "./otlp-answer.ts";

type LogsSerializer = ISerializer<ReadableLogRecord[], IExportLogsServiceResponse>;

interface Opened {
  readonly serializer: LogsSerializer;
  readonly client: HttpClient;
}

const compress = promisify(gzip);

/**
 * Posts batches to an OTLP/HTTP endpoint. One call is one attempt: when to try again is the caller's decision, which
 * the stock exporters leave no room for (they drop a batch whose `Retry-After` is longer than their time-out, hide
 * partial success, and hold the process with their retry timers).
 */
export function createOtlpTransport(
  configuration: OtlpConfiguration,
  maxConcurrentExports: number,
  now: () => number,
): BatchTransport {
  const url = new URL(configuration.url);
  const headers = requestHeaders(configuration);
  const opening = open(configuration, url, maxConcurrentExports);
  // Whoever sends next meets the error; until then nobody else listens for it.
  opening.catch(() => undefined);
  const post = async (records: readonly ReadableLogRecord[], signal: AbortSignal): Promise<DeliveryOutcome> => {
    try {
      const { serializer, client } = await opening;
      const bytes = serializer.serializeRequest([...records]);
      if (bytes === undefined) return { status: "refused", problem: "the batch cannot be encoded" };
      const body = configuration.compression === "gzip" ? await compress(bytes) : bytes;
      const answer = await client.post({ url, headers, body, timeoutMs: configuration.requestTimeoutMs, signal });
      return outcome(answer, serializer, records.length, now());
    } catch (error) {
      return { status: "refused", problem: textOfError(error) };
    }
  };
  return {
    send: (records, signal) => sendInHalves(records, (part) => post(part, signal)),
    close: async () => {
      const opened = await opening.catch(() => undefined);
      opened?.client.close();
    },
  };
}

async function open(configuration: OtlpConfiguration, url: URL, maxSockets: number): Promise<Opened> {
  // Loaded only by those who send: a host that writes JSONL does not pay for it.
  const { JsonLogsSerializer, ProtobufLogsSerializer } = await import("@opentelemetry/otlp-transformer");
  const serializer = configuration.protocol === "http/protobuf" ? ProtobufLogsSerializer : JsonLogsSerializer;
  return { serializer, client: createHttpClient(url.protocol, maxSockets, await readTlsMaterial(configuration.tls)) };
}

async function readTlsMaterial(paths: OtlpConfiguration["tls"]): Promise<TlsMaterial> {
  const read = (path: string | undefined): Promise<Buffer | undefined> =>
    path === undefined ? Promise.resolve(undefined) : readFile(path);
  const [ca, cert, key] = await Promise.all([read(paths.ca), read(paths.certificate), read(paths.key)]);
  return {
    ...(ca === undefined ? undefined : { ca }),
    ...(cert === undefined ? undefined : { cert }),
    ...(key === undefined ? undefined : { key }),
  };
}

function requestHeaders(configuration: OtlpConfiguration): Readonly<Record<string, string>> {
  return {
    "user-agent": `agent-lifecycle-sdk/${SDK_VERSION}`,
    ...configuration.headers,
    "content-type": configuration.protocol === "http/protobuf" ? "application/x-protobuf" : "application/json",
    ...(configuration.compression === "gzip" ? { "content-encoding": "gzip" } : undefined),
  };
}

function outcome(answer: HttpAnswer, serializer: LogsSerializer, sent: number, nowMs: number): DeliveryOutcome {
  if (answer.status === "unanswered") return { status: "unreachable", problem: answer.problem };
  return outcomeOfAnswer(answer, (body) => serializer.deserializeResponse(body).partialSuccess, sent, nowMs);
}
