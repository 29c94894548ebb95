import { OTLPLogExporter as JsonExporter } from "@opentelemetry/exporter-logs-otlp-http";
import { OTLPLogExporter as ProtobufExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import { InMemoryLogRecordExporter, LoggerProvider, SimpleLogRecordProcessor } from "@opentelemetry/sdk-logs";
import { describe, expect, it } from "vitest";
import { startLogsServer } from "./logs-server.ts";
import { emitSome, STATES, start } from "./running-lifecycle.ts";

describe("what a host brings along", () => {
  it("its own provider gets the records, and delivery is its business", async () => {
    const exporter = new InMemoryLogRecordExporter();
    const provider = new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter })] });
    const { lifecycle } = start({ loggerProvider: provider, endpoint: "http://127.0.0.1:1" });
    emitSome(lifecycle);
    expect(await lifecycle.shutdown()).toEqual({ complete: true });
    await provider.forceFlush();
    const records = exporter.getFinishedLogRecords();
    expect(records.map((record) => record.attributes["agent_lifecycle.state"])).toEqual(STATES);
    expect(records.at(-1)).toMatchObject({ eventName: "agent_lifecycle.terminal", severityText: "INFO" });
    expect(lifecycle.counters()).toMatchObject({ emitted: 5, handedToHost: 5, exported: 0 });
    await provider.shutdown();
  });

  for (const [name, Exporter] of [
    ["JSON", JsonExporter],
    ["protobuf", ProtobufExporter],
  ] as const) {
    it(`the stock ${name} exporter sends the batches`, async () => {
      const server = await startLogsServer();
      const { lifecycle } = start({ exporter: new Exporter({ url: `${server.endpoint}/v1/logs` }) });
      emitSome(lifecycle);
      expect(await lifecycle.shutdown()).toEqual({ complete: true });
      expect(server.accepted().map((event) => event.state)).toEqual(STATES);
    });
  }
});
