import type { Intake } from "@agent-lifecycle/collector";
import { createIngestServer, createMetrics, type HttpServer } from "@agent-lifecycle/collector/parts";
import {
  type DecodedStatus,
  decodeExportResponseJson,
  decodeExportResponseProtobuf,
  decodeStatusJson,
  decodeStatusProtobuf,
  type ExportOutcome,
  encodeLogsJson,
  encodeLogsProtobuf,
  type LifecycleEvent,
} from "@agent-lifecycle/proto";
import { onTestFinished } from "vitest";
import { START_MS } from "../../kit/start-time.ts";

export type IngestServerOptions = Partial<Parameters<typeof createIngestServer>[1]>;

/** A real ingest server on a free port of this machine, gone when the test is. */
export async function startIngest(intake: Intake, options: IngestServerOptions = {}): Promise<HttpServer> {
  const faults: unknown[] = [];
  const { telemetry } = createMetrics();
  const server = await createIngestServer(
    { intake, telemetry },
    { port: 0, onError: (error) => faults.push(error), ...options },
  );
  await server.start();
  onTestFinished(async () => {
    await server.shutdown();
    if (options.onError === undefined && faults.length > 0) throw faults[0];
  });
  return server;
}

export type OtlpEncoding = "protobuf" | "json";

export const MEDIA_TYPES: Readonly<Record<OtlpEncoding, string>> = {
  protobuf: "application/x-protobuf",
  json: "application/json",
};

/** An OTLP request that carries these events. */
export function otlpBody(encoding: OtlpEncoding, events: readonly LifecycleEvent[]): Buffer<ArrayBuffer> {
  const logs = {
    resourceAttributes: { "service.name": "test" },
    records: events.map((event) => ({ event, emittedAtMs: START_MS })),
  };
  return encoding === "protobuf" ? Buffer.from(encodeLogsProtobuf(logs)) : Buffer.from(encodeLogsJson(logs));
}

export async function postLogs(
  server: HttpServer,
  encoding: OtlpEncoding,
  body: Uint8Array<ArrayBuffer> | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${server.url()}/v1/logs`, {
    method: "POST",
    headers: { "content-type": MEDIA_TYPES[encoding], ...headers },
    body,
  });
}

/** What a successful answer says. */
export async function outcomeOf(response: Response, encoding: OtlpEncoding): Promise<ExportOutcome | undefined> {
  return encoding === "protobuf"
    ? decodeExportResponseProtobuf(new Uint8Array(await response.arrayBuffer()))
    : decodeExportResponseJson(await response.json());
}

/** What a refusal says. */
export async function statusOf(response: Response, encoding: OtlpEncoding): Promise<DecodedStatus | undefined> {
  return encoding === "protobuf"
    ? decodeStatusProtobuf(new Uint8Array(await response.arrayBuffer()))
    : decodeStatusJson(await response.json());
}
