import { describe, expect, test } from "vitest";
import { coresOf } from "../../bench/processes/core-pinning.ts";
import { otelCollectorConfiguration } from "../../bench/processes/otel-collector-configuration.ts";
import { reasonOf } from "../../programs/go-program.ts";
import { versionOf } from "../../programs/otel-collector/build.ts";

describe("the Collector that ours is measured against", () => {
  test("everything it acknowledges has passed its persistent queue", () => {
    const configuration = JSON.parse(
      otelCollectorConfiguration({ port: 4711, sinkUrl: "http://127.0.0.1:1", storageFolder: "/q", fsync: true }),
    );
    expect(configuration.extensions.file_storage).toEqual({ directory: "/q", fsync: true });
    expect(configuration.exporters.otlp_http.sending_queue.storage).toBe("file_storage");
    expect(configuration.service.extensions).toEqual(["file_storage"]);
    expect(configuration.service.pipelines.logs.processors).not.toContain("batch");
  });

  test("its version is the one that go.mod asks for", () => {
    expect(versionOf("require (\n\tgo.opentelemetry.io/collector/otelcol v0.165.0\n)")).toBe("0.165.0");
    expect(versionOf("module x")).toBe("unknown");
  });

  test("why it could not be built is one line for people", () => {
    const missing = Object.assign(new Error("spawn go ENOENT"), { code: "ENOENT", syscall: "spawn go" });
    expect(reasonOf(missing)).toBe("go is not installed");
    const failed = Object.assign(new Error("Command failed"), {
      stderr: "go: downloading x\nmain.go:1: no such module\n",
    });
    expect(reasonOf(failed)).toBe("go: main.go:1: no such module");
  });
});

describe("processors to confine processes to", () => {
  test("a list of the system names single ones and ranges", () => {
    expect(coresOf("0-2,5")).toEqual([0, 1, 2, 5]);
    expect(coresOf("7")).toEqual([7]);
    expect(coresOf("")).toEqual([]);
  });
});
