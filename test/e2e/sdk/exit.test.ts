import { join } from "node:path";
import type { LifecycleEvent } from "@agent-lifecycle/proto";
import { describe, expect, it } from "vitest";
import { closedPort } from "../../kit/closed-port.ts";
import { readEvents, temporaryDirectory } from "../../kit/event-file.ts";
import { startHost } from "./host-process.ts";
import { answerWith, hang, startLogsServer } from "./logs-server.ts";

/** A request that is never answered is given up after ten seconds; the deadline of the end is two. */
const WITHOUT_DEADLINE_MS = 10_000;
const EMITTED = ["created", "starting", "running"];

function states(events: readonly LifecycleEvent[]): readonly (string | undefined)[] {
  return events.map((event) => event.state).filter((state) => state !== undefined);
}

describe("a host with an endpoint delivers", () => {
  const cases = [
    ["when its loop runs dry", "return", 0, "completed"],
    ["and keeps its own exit code", "return-with-code", 7, "completed"],
    ["before a process.exit that waited for shutdown", "awaited-exit", 4, "completed"],
    ["even when it lives for 50 ms only", "short", 0, "completed"],
    ["what a beforeExit listener of the host emits", "before-exit-listener", 0, "completed"],
  ] as const;
  for (const [what, how, code, last] of cases) {
    it(what, async () => {
      const server = await startLogsServer();
      const end = await startHost("host.mjs", [how], { OTEL_EXPORTER_OTLP_ENDPOINT: server.endpoint }).end;
      expect(end).toMatchObject({ code, signal: null, stderr: "" });
      expect(states(server.accepted())).toEqual([...EMITTED, last]);
    });
  }

  it("a burst of 10,000 events in one turn", async () => {
    const server = await startLogsServer();
    const end = await startHost("host.mjs", ["burst"], { OTEL_EXPORTER_OTLP_ENDPOINT: server.endpoint }).end;
    expect(end).toMatchObject({ code: 0, stderr: "" });
    const sequences = server.accepted().map((event) => event.sequence ?? 0);
    expect(sequences.sort((first, second) => first - second)).toEqual(
      Array.from({ length: 10_004 }, (_, index) => index + 1),
    );
  });

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it(`on ${signal}, and then dies by it`, async () => {
      const server = await startLogsServer();
      const host = startHost("host.mjs", ["signal"], { OTEL_EXPORTER_OTLP_ENDPOINT: server.endpoint });
      await host.line("ready");
      host.process.kill(signal);
      expect(await host.end).toMatchObject({ code: null, signal });
      expect(states(server.accepted())).toEqual(EMITTED);
    });
  }

  it("and leaves a signal to the host that handles it", async () => {
    const server = await startLogsServer();
    const host = startHost("host.mjs", ["signal-own-handler"], { OTEL_EXPORTER_OTLP_ENDPOINT: server.endpoint });
    await host.line("ready");
    host.process.kill("SIGTERM");
    expect(await host.end).toMatchObject({ code: 9, signal: null });
    expect(states(server.accepted())).toEqual([...EMITTED, "cancelled"]);
  });

  it("and gives nothing up for a signal that the host survives", async () => {
    const port = await closedPort();
    const host = startHost("host.mjs", ["signal-survives"], {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    });
    await host.line("ready");
    host.process.kill("SIGTERM");
    await host.line("could not export");
    const server = await startLogsServer([], port);
    host.process.kill("SIGINT");
    expect(await host.end).toMatchObject({ code: 0, signal: null });
    expect(states(server.accepted())).toEqual([...EMITTED, "completed"]);
  });

  it("for every lifecycle it has", async () => {
    const server = await startLogsServer();
    await startHost("host.mjs", ["two-lifecycles"], { OTEL_EXPORTER_OTLP_ENDPOINT: server.endpoint }).end;
    const sources = new Set(server.accepted().map((event) => `${event.source} ${event.state}`));
    expect(sources).toContain("host completed");
    expect(sources).toContain("second cancelled");
  });

  it("and does not stand in the way of a listener that dies only when it is alone", async () => {
    const server = await startLogsServer();
    const host = startHost("host.mjs", ["signal-when-alone"], { OTEL_EXPORTER_OTLP_ENDPOINT: server.endpoint });
    await host.line("ready");
    host.process.kill("SIGTERM");
    expect(await host.end).toMatchObject({ code: null, signal: "SIGTERM" });
  });

  it("and takes its hooks away at shutdown", async () => {
    const server = await startLogsServer();
    const end = await startHost("host.mjs", ["hooks-removed"], { OTEL_EXPORTER_OTLP_ENDPOINT: server.endpoint }).end;
    expect(end.stdout).toBe("[0,0,0,0]\n");
  });
});

describe("a host with JSONL writes", () => {
  const cases = [
    ["when its loop runs dry", "return", 0, "completed"],
    ["on process.exit right after the last event", "process-exit", 3, "completed"],
    ["what an exit listener of the host emits", "exit-listener", 0, "completed"],
    ["on an uncaught exception", "uncaught-exception", 1, "failed"],
    ["on an unhandled rejection", "unhandled-rejection", 1, "failed"],
    ["even when it lives for 50 ms only", "short", 0, "completed"],
  ] as const;
  for (const [what, how, code, last] of cases) {
    it(what, async () => {
      const path = join(temporaryDirectory(), "events.jsonl");
      const end = await startHost("host.mjs", [how], { AGENT_LIFECYCLE_JSONL: path }).end;
      expect(end).toMatchObject({ code, signal: null });
      expect(states(readEvents(path))).toEqual([...EMITTED, last]);
    });
  }

  it("on SIGTERM, and then dies by it", async () => {
    const path = join(temporaryDirectory(), "events.jsonl");
    const host = startHost("host.mjs", ["signal"], { AGENT_LIFECYCLE_JSONL: path });
    await host.line("ready");
    host.process.kill("SIGTERM");
    expect(await host.end).toMatchObject({ code: null, signal: "SIGTERM" });
    expect(states(readEvents(path))).toEqual(EMITTED);
  });

  for (const stream of ["stdout", "stderr"] as const) {
    for (const how of ["return", "process-exit"]) {
      it(`to ${stream} with ${how}, whole lines and nothing else`, async () => {
        const end = await startHost("host.mjs", [how], { AGENT_LIFECYCLE_JSONL: stream }).end;
        const lines = end[stream].split("\n").filter((line) => line !== "");
        expect(states(lines.map((line) => JSON.parse(line) as LifecycleEvent))).toEqual([...EMITTED, "completed"]);
        expect(end[stream === "stdout" ? "stderr" : "stdout"]).toBe("");
      });
    }
  }

  it("and survives a stdout that nobody reads any more", async () => {
    const host = startHost("host.mjs", ["burst"], { AGENT_LIFECYCLE_JSONL: "stdout" });
    host.process.stdout?.destroy();
    expect(await host.end).toMatchObject({ code: 0, signal: null, stderr: "" });
  });
});

describe("an endpoint that does not take events", () => {
  it("leaves them in the fallback after process.exit", async () => {
    const server = await startLogsServer([hang, hang]);
    const path = join(temporaryDirectory(), "events.jsonl");
    const end = await startHost("host.mjs", ["process-exit"], {
      OTEL_EXPORTER_OTLP_ENDPOINT: server.endpoint,
      AGENT_LIFECYCLE_JSONL: path,
    }).end;
    expect(end.code).toBe(3);
    expect(states(readEvents(path))).toEqual([...EMITTED, "completed"]);
  });

  it("and does not exist neither delays nor changes the host's end", async () => {
    const path = join(temporaryDirectory(), "events.jsonl");
    const end = await startHost("host.mjs", ["return-with-code"], {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await closedPort()}`,
      AGENT_LIFECYCLE_JSONL: path,
    }).end;
    expect(end).toMatchObject({ code: 7, signal: null, stderr: "" });
    // Starting Node and reading TypeScript takes most of it; waiting for retries would take seconds more.
    expect(end.elapsedMs).toBeLessThan(2_000);
    expect(states(readEvents(path))).toEqual([...EMITTED, "completed"]);
  });

  it("holds the host up for no longer than the deadline when it never answers", async () => {
    const server = await startLogsServer([hang, hang]);
    const path = join(temporaryDirectory(), "events.jsonl");
    const end = await startHost("host.mjs", ["return"], {
      OTEL_EXPORTER_OTLP_ENDPOINT: server.endpoint,
      AGENT_LIFECYCLE_JSONL: path,
    }).end;
    expect(end).toMatchObject({ code: 0, signal: null });
    expect(end.elapsedMs).toBeLessThan(WITHOUT_DEADLINE_MS);
    expect(states(readEvents(path))).toEqual([...EMITTED, "completed"]);
  });

  it("holds a signal up for no longer than the deadline, and the host still dies by it", async () => {
    const server = await startLogsServer([hang, hang]);
    const path = join(temporaryDirectory(), "events.jsonl");
    const host = startHost("host.mjs", ["signal"], {
      OTEL_EXPORTER_OTLP_ENDPOINT: server.endpoint,
      AGENT_LIFECYCLE_JSONL: path,
    });
    await host.line("ready");
    host.process.kill("SIGTERM");
    const end = await host.end;
    expect(end).toMatchObject({ code: null, signal: "SIGTERM" });
    expect(end.elapsedMs).toBeLessThan(WITHOUT_DEADLINE_MS);
    expect(states(readEvents(path))).toEqual(EMITTED);
  });

  it("is given up at once by a second signal", async () => {
    const server = await startLogsServer([hang, hang]);
    const host = startHost("host.mjs", ["signal"], { OTEL_EXPORTER_OTLP_ENDPOINT: server.endpoint });
    await host.line("ready");
    host.process.kill("SIGTERM");
    await server.requestCount(1);
    host.process.kill("SIGTERM");
    const end = await host.end;
    expect(end.signal).toBe("SIGTERM");
    expect(end.elapsedMs).toBeLessThan(2_000);
  });

  it("refuses for good: the events are in the fallback, the exit code is the host's", async () => {
    const server = await startLogsServer([answerWith(400), answerWith(400)]);
    const path = join(temporaryDirectory(), "events.jsonl");
    const end = await startHost("host.mjs", ["return"], {
      OTEL_EXPORTER_OTLP_ENDPOINT: server.endpoint,
      AGENT_LIFECYCLE_JSONL: path,
    }).end;
    expect(end).toMatchObject({ code: 0, stderr: "" });
    expect(states(readEvents(path))).toEqual([...EMITTED, "completed"]);
  });
});

it("an idle host with a running child is not kept alive by heartbeats or timers", async () => {
  const server = await startLogsServer();
  const end = await startHost("host.mjs", ["idle"], { OTEL_EXPORTER_OTLP_ENDPOINT: server.endpoint }).end;
  expect(end).toMatchObject({ code: 0, signal: null });
  expect(end.elapsedMs).toBeLessThan(2_000);
  expect(states(server.accepted())).toEqual(EMITTED);
});
