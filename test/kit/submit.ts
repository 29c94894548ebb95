import {
  decodeExportResponseJson,
  decodeExportResponseProtobuf,
  type ExportOutcome,
  encodeLogsJson,
  encodeLogsProtobuf,
  type LifecycleEvent,
  parseTimestamp,
} from "@agent-lifecycle/proto";

/** The forms in which the collector takes events over HTTP. */
export const ENCODINGS = ["protobuf", "json", "lines"] as const;

export type Encoding = (typeof ENCODINGS)[number];

export interface IngestRequest {
  readonly path: string;
  readonly contentType: string;
  readonly body: Uint8Array | string;
}

/** What a sender is told of a request that was stored. */
export interface Receipt {
  readonly rejected: number;
}

export function ingestRequest(events: readonly LifecycleEvent[], encoding: Encoding): IngestRequest {
  if (encoding === "lines") {
    return {
      path: "/v1/lifecycle/events",
      contentType: "application/x-ndjson",
      body: events.map((event) => `${JSON.stringify(event)}\n`).join(""),
    };
  }
  const logs = {
    resourceAttributes: { "service.name": "test" },
    records: events.map((event) => ({ event, emittedAtMs: parseTimestamp(event.observedAt) ?? 0 })),
  };
  return encoding === "protobuf"
    ? { path: "/v1/logs", contentType: "application/x-protobuf", body: encodeLogsProtobuf(logs) }
    : { path: "/v1/logs", contentType: "application/json", body: encodeLogsJson(logs) };
}

/** Sends events and resolves when the collector has acknowledged them. @throws when it did anything else. */
export async function submit(
  ingestUrl: string,
  events: readonly LifecycleEvent[],
  encoding: Encoding = "protobuf",
): Promise<Receipt> {
  const { path, contentType, body } = ingestRequest(events, encoding);
  const response = await fetch(new URL(path, ingestUrl), {
    method: "POST",
    headers: { "content-type": contentType },
    body: body as NonNullable<RequestInit["body"]>,
  });
  const answer = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${answer.toString("latin1")}`);
  return receiptOf(answer, encoding);
}

function receiptOf(answer: Buffer, encoding: Encoding): Receipt {
  if (encoding === "lines") return JSON.parse(answer.toString()) as Receipt;
  const outcome: ExportOutcome | undefined =
    encoding === "protobuf"
      ? decodeExportResponseProtobuf(answer)
      : decodeExportResponseJson(JSON.parse(answer.toString()));
  if (outcome === undefined) throw new Error(`no export response: ${answer.toString("hex")}`);
  return { rejected: outcome.rejectedLogRecords };
}
