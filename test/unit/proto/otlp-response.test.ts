import { readFile } from "node:fs/promises";
import {
  decodeExportResponseJson,
  decodeExportResponseProtobuf,
  decodeStatusJson,
  decodeStatusProtobuf,
  encodeExportResponseJson,
  encodeExportResponseProtobuf,
  encodeStatusJson,
  encodeStatusProtobuf,
  FULL_SUCCESS,
  RPC_CODES,
} from "@agent-lifecycle/proto";
import fc from "fast-check";
import protobuf from "protobufjs";
import { describe, expect, test } from "vitest";

const { root } = protobuf.parse(await readFile(new URL("../../../proto/otlp/logs.proto", import.meta.url), "utf8"));

const arbitraryOutcome = fc.record({
  rejectedLogRecords: fc.maxSafeNat(),
  errorMessage: fc.string({ unit: "grapheme" }),
});

describe("export responses", () => {
  test("full success is nothing in protobuf and {} in JSON (H7)", () => {
    expect(encodeExportResponseProtobuf(FULL_SUCCESS)).toHaveLength(0);
    expect(encodeExportResponseJson(FULL_SUCCESS)).toBe("{}");
    expect(decodeExportResponseProtobuf(new Uint8Array(0))).toEqual(FULL_SUCCESS);
    expect(decodeExportResponseJson({})).toEqual(FULL_SUCCESS);
    expect(decodeExportResponseJson({ partialSuccess: {} })).toEqual(FULL_SUCCESS);
  });

  test("what was refused, and why, comes through in both encodings (H9, H10)", () => {
    fc.assert(
      fc.property(arbitraryOutcome, (outcome) => {
        expect(decodeExportResponseProtobuf(encodeExportResponseProtobuf(outcome))).toEqual(outcome);
        expect(decodeExportResponseJson(JSON.parse(encodeExportResponseJson(outcome)))).toEqual(outcome);
      }),
    );
    expect(JSON.parse(encodeExportResponseJson({ rejectedLogRecords: 3, errorMessage: "why" }))).toEqual({
      partialSuccess: { rejectedLogRecords: "3", errorMessage: "why" },
    });
  });

  test("a reflection of the schema reads the same", () => {
    const bytes = encodeExportResponseProtobuf({ rejectedLogRecords: 3, errorMessage: "why" });
    const type = root.lookupType("ExportLogsServiceResponse");
    expect(type.toObject(type.decode(bytes), { longs: Number })).toEqual({
      partialSuccess: { rejectedLogRecords: 3, errorMessage: "why" },
    });
  });

  test("something else is no response", () => {
    expect(decodeExportResponseProtobuf(Uint8Array.of(0x0a, 0x09, 0x08))).toBeUndefined();
    for (const value of [
      null,
      5,
      [],
      { partialSuccess: 5 },
      { partialSuccess: { rejectedLogRecords: "many" } },
      { partialSuccess: { errorMessage: 5 } },
    ]) {
      expect(decodeExportResponseJson(value)).toBeUndefined();
    }
  });
});

describe("statuses", () => {
  const status = {
    code: RPC_CODES.unavailable,
    message: "overloaded",
    retryDelayMs: 1500,
    fieldViolations: [{ field: "resourceLogs[0]", description: "no list" }],
  };

  test("code and message come through in both encodings", () => {
    const { code, message, retryDelayMs } = status;
    expect(decodeStatusProtobuf(encodeStatusProtobuf(status))).toEqual({ code, message, retryDelayMs });
    expect(decodeStatusProtobuf(encodeStatusProtobuf({ code, message }))).toEqual({ code, message });
    expect(decodeStatusJson(JSON.parse(encodeStatusJson(status)))).toEqual({ code, message });
    expect(decodeStatusJson({ message })).toEqual({ code: 0, message });
  });

  test("details are google.rpc's, in JSON", () => {
    expect(JSON.parse(encodeStatusJson(status)).details).toEqual([
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "1.5s" },
      { "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: status.fieldViolations },
    ]);
    expect(JSON.parse(encodeStatusJson({ code: 3, message: "bad" }))).toEqual({ code: 3, message: "bad" });
  });

  test("details are google.rpc's, in protobuf", () => {
    const read = (name: string, bytes: Uint8Array) => {
      const type = root.lookupType(name);
      return type.toObject(type.decode(bytes), { longs: Number });
    };
    const [retry, bad] = read("Status", encodeStatusProtobuf(status)).details;
    expect(retry.type_url ?? retry.typeUrl).toBe("type.googleapis.com/google.rpc.RetryInfo");
    expect(read("RetryInfo", retry.value)).toEqual({ retryDelay: { seconds: 1, nanos: 500_000_000 } });
    expect(read("BadRequest", bad.value)).toEqual({ fieldViolations: status.fieldViolations });
  });

  test("something else is no status", () => {
    expect(decodeStatusProtobuf(Uint8Array.of(0x12, 0x09, 0x08))).toBeUndefined();
    for (const value of [null, [], { code: "3" }, { message: 5 }]) expect(decodeStatusJson(value)).toBeUndefined();
  });
});
