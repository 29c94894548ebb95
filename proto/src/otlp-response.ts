import protobuf from "protobufjs/minimal.js";
import { isJsonObject } from "./json.ts";
import { memberOf } from "./otlp-json-member.ts";
import { WireCursor } from "./otlp-wire.ts";

/** What a server says of a request it took: how many records it refused for good, and why, for people. */
export interface ExportOutcome {
  readonly rejectedLogRecords: number;
  readonly errorMessage: string;
}

/** Everything was taken. */
export const FULL_SUCCESS: ExportOutcome = Object.freeze({ rejectedLogRecords: 0, errorMessage: "" });

/** An ExportLogsServiceResponse; no bytes at all for full success (H7). */
export function encodeExportResponseProtobuf(outcome: ExportOutcome): Uint8Array {
  const writer = protobuf.Writer.create();
  if (isFullSuccess(outcome)) return writer.finish();
  writer.uint32(10).fork();
  if (outcome.rejectedLogRecords > 0) writer.uint32(8).int64(outcome.rejectedLogRecords);
  if (outcome.errorMessage !== "") writer.uint32(18).string(outcome.errorMessage);
  return writer.ldelim().finish();
}

/** The same as JSON text; `{}` for full success (H7). */
export function encodeExportResponseJson(outcome: ExportOutcome): string {
  if (isFullSuccess(outcome)) return "{}";
  const { rejectedLogRecords, errorMessage } = outcome;
  return JSON.stringify({ partialSuccess: { rejectedLogRecords: String(rejectedLogRecords), errorMessage } });
}

function isFullSuccess(outcome: ExportOutcome): boolean {
  return outcome.rejectedLogRecords === 0 && outcome.errorMessage === "";
}

/** Reads a response in protobuf; `undefined` when it is none. */
export function decodeExportResponseProtobuf(bytes: Uint8Array): ExportOutcome | undefined {
  try {
    const cursor = new WireCursor(bytes);
    let rejectedLogRecords = 0;
    let errorMessage = "";
    while (cursor.position < bytes.length) {
      const tag = cursor.varint();
      if (tag !== 10) {
        cursor.skip(tag);
        continue;
      }
      const end = cursor.enter(bytes.length);
      while (cursor.position < end) {
        const field = cursor.varint();
        if (field === 8) rejectedLogRecords = cursor.int64();
        else if (field === 18) errorMessage = cursor.text(...span(cursor, end));
        else cursor.skip(field);
      }
      cursor.leave(end);
    }
    return { rejectedLogRecords, errorMessage };
  } catch {
    return undefined;
  }
}

function span(cursor: WireCursor, outerEnd: number): [start: number, end: number] {
  const end = cursor.enter(outerEnd);
  return [cursor.position, end];
}

/** Reads a response from its parsed JSON; `undefined` when it is none. An absent member is as good as an empty one. */
export function decodeExportResponseJson(value: unknown): ExportOutcome | undefined {
  if (!isJsonObject(value)) return undefined;
  const partial = memberOf(value, "partialSuccess", "partial_success");
  if (partial === undefined) return FULL_SUCCESS;
  if (!isJsonObject(partial)) return undefined;
  const rejectedLogRecords = Number(memberOf(partial, "rejectedLogRecords", "rejected_log_records") ?? 0);
  const errorMessage = memberOf(partial, "errorMessage", "error_message") ?? "";
  if (!Number.isSafeInteger(rejectedLogRecords) || typeof errorMessage !== "string") return undefined;
  return { rejectedLogRecords, errorMessage };
}
