import { join } from "node:path";
import { type ChildView, decodeLogsProtobuf } from "@agent-lifecycle/proto";
import { beforeAll, describe, expect, test } from "vitest";
import { historyOf } from "../../kit/child-history.ts";
import { startCollector } from "../../kit/collector-process.ts";
import { temporaryDirectory } from "../../kit/event-file.ts";
import { startProgram } from "../../kit/program.ts";
import { startForwardingProxy } from "./forwarding-proxy.ts";
import { goHost, type Host, nodeHost, pythonHost } from "./toolchains.ts";

/** OpenTelemetry's own SDKs, which know nothing of us, in the languages that hosts are written in. */
const SDKS = { JavaScript: nodeHost, Python: pythonHost, Go: goHost } as const;

const TRANSPORTS = [
  ["http", "none"],
  ["http", "gzip"],
  ["grpc", "none"],
  ["grpc", "gzip"],
] as const;

interface Announced {
  readonly traceId: string;
  readonly spanId: string;
}

async function runHost(host: Host & { readonly isThere: true }, argv: readonly string[]): Promise<Announced> {
  const { exitCode, stdout, stderr } = await startProgram(host.program, [...host.argv, ...argv]).end;
  expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
  return JSON.parse(stdout.toString()) as Announced;
}

for (const [language, prepare] of Object.entries(SDKS)) {
  describe(`a host on OpenTelemetry's ${language} SDK`, () => {
    let host: Host;
    beforeAll(async () => {
      host = await prepare();
      if (!host.isThere) console.warn(`${language}: not run: ${host.reason}`);
    });

    for (const [protocol, compression] of TRANSPORTS) {
      test(`is projected through its stock exporter, over ${protocol} with compression ${compression}`, async ({
        skip,
      }) => {
        // What was not run has not passed.
        if (!host.isThere) return skip(`not run: ${host.reason}`);
        const collector = await startCollector(join(temporaryDirectory(), "collector.db"));
        const proxy = await startForwardingProxy(collector.ingestUrl);
        const url = protocol === "grpc" ? collector.grpcUrl : proxy.url;
        const source = `${language}-host`;
        const { traceId, spanId } = await runHost(host, [protocol, compression, url, source]);

        expect(await collector.get<ChildView>(`/api/v1/children/${source}/researcher`)).toMatchObject({
          state: "completed",
          stateAt: "2026-09-01T09:00:06.000Z",
          terminalEvidence: "event",
          activity: "liest die Arbeit, 论文",
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
        expect(await collector.get<ChildView>(`/api/v1/children/${source}/reviewer`)).toMatchObject({
          state: "waiting",
          facts: { waitingOn: { kind: "permission" } },
          provisional: false,
          highestSequence: 4,
        });
        for (const [childId, events] of [
          ["researcher", 6],
          ["reviewer", 4],
        ] as const) {
          const history = await historyOf(collector, source, childId);
          expect(history.map(({ status, diagnostic, event }) => [event?.eventId, status, diagnostic])).toEqual(
            Array.from({ length: events }, (_, index) => [`${childId}-${index + 1}`, "applied", null]),
          );
        }
        if (protocol === "http") {
          const records = proxy.bodies.flatMap((body) => {
            const decoded = decodeLogsProtobuf(body);
            return decoded.ok ? decoded.records : [];
          });
          const ours = records.filter((record) => !record.foreign);
          expect([records.length, ours.length]).toEqual([11, 10]);
          for (const record of ours) expect(record).toMatchObject({ traceId, spanId });
        }
      });
    }
  });
}
