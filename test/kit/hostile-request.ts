import { decodeStatusJson, decodeStatusProtobuf } from "@agent-lifecycle/proto";

/** A way into the collector over HTTP, and the media type of the answers to what cannot be read there. */
export interface Entrance {
  readonly path: string;
  readonly contentType: string;
  readonly refusalType: string;
}

export const PROTOBUF_LOGS: Entrance = {
  path: "/v1/logs",
  contentType: "application/x-protobuf",
  refusalType: "application/x-protobuf",
};
export const JSON_LOGS: Entrance = {
  path: "/v1/logs",
  contentType: "application/json",
  refusalType: "application/json",
};
export const LINES: Entrance = {
  path: "/v1/lifecycle/events",
  contentType: "application/x-ndjson",
  refusalType: "application/problem+json",
};
export const SNAPSHOTS: Entrance = {
  path: "/v1/lifecycle/snapshots",
  contentType: "application/json",
  refusalType: "application/problem+json",
};

export const ENTRANCES: readonly Entrance[] = [PROTOBUF_LOGS, JSON_LOGS, LINES, SNAPSHOTS];

export interface HostileRequest {
  readonly body: Uint8Array | string | ReadableStream<Uint8Array>;
  readonly contentEncoding?: string;
}

export interface Answer {
  readonly statusCode: number;
  readonly contentType: string | null;
  readonly retryAfter: string | null;
  readonly body: Buffer;
}

export async function send(ingestUrl: string, entrance: Entrance, request: HostileRequest): Promise<Answer> {
  const { body, contentEncoding } = request;
  const response = await fetch(new URL(entrance.path, ingestUrl), {
    method: "POST",
    headers: {
      "content-type": entrance.contentType,
      ...(contentEncoding === undefined ? undefined : { "content-encoding": contentEncoding }),
    },
    body: body as NonNullable<RequestInit["body"]>,
    ...(body instanceof ReadableStream ? { duplex: "half" } : undefined),
  });
  return {
    statusCode: response.status,
    contentType: response.headers.get("content-type"),
    retryAfter: response.headers.get("retry-after"),
    body: Buffer.from(await response.arrayBuffer()),
  };
}

/** What a refusal says, read as its own media type. @throws when it is not what it claims to be. */
export function refusalText({ contentType, body }: Answer): string {
  switch (contentType) {
    case "application/x-protobuf": {
      const status = decodeStatusProtobuf(body);
      if (status === undefined) throw new Error(`no google.rpc.Status: ${body.toString("hex")}`);
      return status.message;
    }
    case "application/json": {
      const status = decodeStatusJson(JSON.parse(body.toString()));
      if (status === undefined) throw new Error(`no google.rpc.Status: ${body.toString()}`);
      return status.message;
    }
    case "application/problem+json":
      return (JSON.parse(body.toString()) as { readonly detail: string }).detail;
    default:
      throw new Error(`a refusal of type ${contentType}`);
  }
}
