import { planReload, resolveConfiguration, type StatedConfiguration } from "@agent-lifecycle/collector";
import { describe, expect, it, test } from "vitest";

const of = (stated: StatedConfiguration) => resolveConfiguration(stated).configuration;
const token = (name: string, scopes: readonly ("ingest" | "read" | "admin")[]) => ({
  name,
  token: `token-${name}`,
  scopes,
});
const certificate = (name: string) => ({ name, commonName: name, scopes: ["ingest", "read"] as const });
const pushing = (intervalMs: number) => ({ snapshotSources: { "push/a": { source: "a", intervalMs } } });
const tls = (certFile: string, clientCaFile?: string) => ({ certFile, keyFile: "k", clientCaFile });

describe("of a new configuration, a running collector takes", () => {
  test.each<[string, StatedConfiguration, StatedConfiguration]>([
    ["access.tokens", {}, { access: { tokens: [token("a", ["read"])] } }],
    ["access.tokens", { access: { tokens: [token("a", ["read"])] } }, {}],
    ["access.certificates", {}, { api: {}, access: { certificates: [certificate("a")] } }],
    ["service.telemetry.logs.level", {}, { service: { telemetry: { logs: { level: "debug" } } } }],
    ["storage.retention.max_age", {}, { storage: { retention: { maxAgeMs: 1_000_000 } } }],
    ["storage.retention.max_size", { storage: { retention: { maxSizeBytes: 100_000_000 } } }, {}],
    ["limits.requests_per_second", {}, { limits: { requestsPerSecond: 5 } }],
    ["api.tls.cert_file", { api: { tls: tls("old") } }, { api: { tls: tls("new") } }],
  ])("%s", (path, current, next) => {
    const plan = planReload(of(current), of(next));
    expect(plan).toMatchObject({ applied: [path], needsRestart: [] });
    expect(plan.configuration).toEqual(of(next));
  });
});

describe("what waits for the next start, and is not in force before", () => {
  test.each<[string, StatedConfiguration, StatedConfiguration]>([
    ["api.endpoint.port", {}, { api: { endpoint: { port: 1 } } }],
    ["storage.path", {}, { storage: { path: "other.db" } }],
    ["storage.retention.interval", {}, { storage: { retention: { intervalMs: 1 } } }],
    ["snapshot_sources.push/a.interval", pushing(1_000), pushing(2_000)],
    ["lifecycle.stale_after", {}, { lifecycle: { staleAfterMs: 1_000 } }],
    ["lifecycle.sources", {}, { lifecycle: { sources: new Map([["a", { staleAfterMs: 1 }]]) } }],
    ["access.insecure_public_bind", {}, { access: { insecurePublicBind: true } }],
    ["limits.queue", {}, { limits: { queueBytes: 1 } }],
    ["service.shutdown_timeout", {}, { service: { shutdownTimeoutMs: 1 } }],
    ["api.tls", {}, { api: { tls: tls("new") } }],
    ["api.tls", { api: { tls: tls("old") } }, {}],
    ["api.tls.client_ca_file", { api: { tls: tls("c") } }, { api: { tls: tls("c", "authority") } }],
  ])("%s", (path, current, next) => {
    const plan = planReload(of(current), of(next));
    expect(plan).toMatchObject({ applied: [], needsRestart: [path] });
    expect(plan.configuration).toEqual(of(current));
  });

  it("and receivers, as a whole and in their options", () => {
    const module = (size: number) => of({ receivers: { "module/aB": { module: "./m", options: { maxBytes: size } } } });
    expect(planReload(module(1), module(2)).needsRestart).toEqual(["receivers.module/aB.options"]);
    expect(planReload(of({}), module(1)).needsRestart).toContain("service.receivers");
  });
});

it("is nothing when nothing differs", () => {
  const plan = planReload(of({}), of({}));
  expect(plan).toEqual({ applied: [], needsRestart: [], configuration: of({}) });
});

it("never takes the last token from a listener that others still reach", () => {
  const open = of({ api: { endpoint: { host: "0.0.0.0" } }, access: { tokens: [token("a", ["ingest", "read"])] } });
  const loopback = of({});
  const plan = planReload(open, loopback);
  expect(plan.configuration.access.tokens).toEqual(open.access.tokens);
  expect(plan.needsRestart).toEqual(["api.endpoint.host", "access.tokens"]);
  expect(plan.applied).toEqual([]);
});

it("never takes the last grant to certificates from a listener that others still reach", () => {
  const open = of({ api: { endpoint: { host: "0.0.0.0" } }, access: { certificates: [certificate("a")] } });
  const plan = planReload(open, of({}));
  expect(plan.configuration.access.certificates).toEqual(open.access.certificates);
  expect(plan.needsRestart).toEqual(["api.endpoint.host", "access.certificates"]);
});

it("changes everything it can at once, and names no value", () => {
  const next = of({
    access: { tokens: [token("secret", ["read"])] },
    limits: { requestsPerSecond: 5 },
    service: { telemetry: { logs: { level: "warn" } } },
    storage: { path: "other.db" },
  });
  const { applied, needsRestart } = planReload(of({}), next);
  expect(new Set(applied)).toEqual(
    new Set(["access.tokens", "limits.requests_per_second", "service.telemetry.logs.level"]),
  );
  expect(needsRestart).toEqual(["storage.path"]);
});
