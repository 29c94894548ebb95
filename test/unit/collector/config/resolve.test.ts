import { DEFAULT_CONFIGURATION, describeProblem, resolveConfiguration } from "@agent-lifecycle/collector";
import { expect, it } from "vitest";

it("has the defaults where nothing is stated, and no problem with them", () => {
  expect(resolveConfiguration()).toEqual({ configuration: DEFAULT_CONFIGURATION, problems: [] });
  const unstated = { api: undefined, lifecycle: { staleAfterMs: undefined }, receivers: undefined };
  expect(resolveConfiguration(unstated)).toEqual({ configuration: DEFAULT_CONFIGURATION, problems: [] });
});

it("takes as little as one port, and leaves all else to the defaults", () => {
  const { configuration, problems } = resolveConfiguration({
    receivers: { otlp: { protocols: { http: { endpoint: { port: 0 } }, grpc: null } } },
    api: { endpoint: { port: 0 } },
  });
  expect(problems).toEqual([]);
  expect(configuration.receivers.otlp?.protocols).toEqual({
    http: { ...DEFAULT_CONFIGURATION.receivers.otlp?.protocols.http, endpoint: { host: "127.0.0.1", port: 0 } },
    grpc: null,
  });
  expect(configuration.api.endpoint).toEqual({ host: "127.0.0.1", port: 0 });
  expect(configuration.storage).toEqual(DEFAULT_CONFIGURATION.storage);
});

it("does not share what was stated with the defaults", () => {
  resolveConfiguration({ api: { maxStreams: 1 }, lifecycle: { sources: new Map([["a", { staleAfterMs: 1 }]]) } });
  expect(DEFAULT_CONFIGURATION.api.maxStreams).toBe(256);
  expect(DEFAULT_CONFIGURATION.lifecycle.sources.size).toBe(0);
});

it("finds everything that is wrong at once, in the spelling of a file", () => {
  const { problems } = resolveConfiguration({
    api: { endpoint: { host: "0.0.0.0", port: 70_000 }, maxStreams: 0 },
    lifecycle: { staleAfterMs: Number.NaN, missingGrace: 1.5 },
    receivers: {
      otlp: { protocols: { http: { maxRequestBodyBytes: -1 } } },
      "jsonl_file/a": { path: "a", maxLineBytes: 0 },
    },
    limits: { queueBytes: Number.POSITIVE_INFINITY, memory: "0%" },
  });
  expect(problems.map((problem) => describeProblem(problem).split(": ")[0])).toEqual([
    "api.max_streams",
    "lifecycle.stale_after",
    "lifecycle.missing_grace",
    "limits.queue",
    "limits.memory",
    "receivers.otlp.protocols.http.max_request_body",
    "receivers.jsonl_file/a.max_line",
    "api.endpoint",
    "api.endpoint",
  ]);
});

it("gives TLS its pace wherever its files are stated", () => {
  const tls = { certFile: "c", keyFile: "k" };
  const { configuration } = resolveConfiguration({
    api: { tls },
    receivers: { otlp: { protocols: { grpc: { tls } } } },
  });
  const resolved = { ...tls, clientCaFile: undefined, reloadIntervalMs: 60_000 };
  expect(configuration.api.tls).toEqual(resolved);
  expect(configuration.receivers.otlp?.protocols.grpc?.tls).toEqual(resolved);
  expect(configuration.receivers.otlp?.protocols.http?.tls).toBeUndefined();
});
