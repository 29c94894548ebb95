import { describe, expect, it } from "vitest";
import { startHost } from "./host-process.ts";
import { startLogsServer } from "./logs-server.ts";

describe("a host that has an OpenTelemetry of its own", () => {
  for (const [name, line] of [
    ["SDK 2", "2"],
    ["SDK 3", "3"],
  ] as const) {
    it(`${name}, keeps it as it is, and its children are reported beside it`, async () => {
      const server = await startLogsServer();
      const end = await startHost("host-telemetry.mjs", [line, "beside"], {
        OTEL_EXPORTER_OTLP_ENDPOINT: server.endpoint,
      }).end;
      expect(end).toMatchObject({ code: 0, stderr: "" });
      expect(JSON.parse(end.stdout)).toEqual(["the host's own"]);
      expect(server.accepted().map(({ state }) => state)).toEqual(["created", "failed"]);
    });

    it(`${name}, can take the records itself`, async () => {
      const end = await startHost("host-telemetry.mjs", [line, "into"], {}).end;
      expect(end).toMatchObject({ code: 0, stderr: "" });
      expect(JSON.parse(end.stdout)).toEqual([
        "the host's own",
        "agent_lifecycle.created created",
        "agent_lifecycle.terminal failed",
      ]);
    });
  }
});
