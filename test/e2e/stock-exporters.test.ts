import { join } from "node:path";
import type { ChildView } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { historyOf } from "../kit/child-history.ts";
import { startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { fixture, startNode } from "../kit/program.ts";

/** The lines of OpenTelemetry JS that hosts use today: 3.x, and 0.223 of the 2.x line. */
const LINES = { "OpenTelemetry 3.x": "3", "OpenTelemetry 2.x (0.223)": "2" } as const;
const TRANSPORTS = [
  { protocol: "http/json", compression: "none" },
  { protocol: "http/protobuf", compression: "gzip" },
  { protocol: "grpc", compression: "none" },
  { protocol: "grpc", compression: "gzip" },
] as const;

async function metric(collector: { readonly apiUrl: string }, name: string, label: string): Promise<number> {
  const text = await (await fetch(new URL("/metrics", collector.apiUrl))).text();
  const line = text.split("\n").find((candidate) => candidate.startsWith(name) && candidate.includes(label));
  return line === undefined ? 0 : Number(line.slice(line.lastIndexOf(" ")));
}

for (const [name, line] of Object.entries(LINES)) {
  describe(`a host on ${name} that knows nothing of us but the attributes`, () => {
    for (const { protocol, compression } of TRANSPORTS) {
      test(`is projected through its stock ${protocol} exporter, compression ${compression} (T15)`, async () => {
        const collector = await startCollector(join(temporaryDirectory(), "collector.db"));
        const url = protocol === "grpc" ? collector.grpcUrl : `${collector.ingestUrl}/v1/logs`;
        const host = startNode(fixture("stock-exporter-host.mjs"), [line, protocol, url], {
          environment: { OTEL_EXPORTER_OTLP_COMPRESSION: compression },
        });
        const { exitCode, stderr } = await host.end;
        expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
        expect(await collector.get<ChildView>("/api/v1/children/plain-host/researcher")).toMatchObject({
          state: "completed",
          stateAt: "2026-09-01T09:00:06.000Z",
          terminalEvidence: "event",
          activity: "reads the paper",
          activityAt: "2026-09-01T09:00:04.000Z",
          facts: { usage: { inputTokens: 812 }, exitCode: 0 },
          lineage: { rootChildId: "planner", parentChildId: "planner", attempt: 0, external: false },
          capabilities: { heartbeat: "known", snapshot: "unknown" },
          provisional: false,
          history: "complete",
          sourceEpoch: "2026-09-01",
          highestSequence: 6,
          gaps: [],
        });
        const history = await historyOf(collector, "plain-host", "researcher");
        expect(history.map(({ status, diagnostic, event }) => [event?.eventId, status, diagnostic])).toEqual(
          Array.from({ length: 6 }, (_, index) => [`event-${index + 1}`, "applied", null]),
        );
        expect(
          await metric(
            collector,
            "agent_lifecycle_foreign_records_total",
            protocol === "grpc" ? "otlp_grpc" : "otlp_http",
          ),
        ).toBe(1);
      });
    }
  });
}
