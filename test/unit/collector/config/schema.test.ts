import { readFileSync } from "node:fs";
import { type CollectorConfiguration, DEFAULT_CONFIGURATION } from "@agent-lifecycle/collector";
import { printableConfiguration, readConfigurationSchema } from "@agent-lifecycle/collector/parts";
import { describe, expect, it, test } from "vitest";
import { stringify } from "yaml";
import { referenceOf, referenceTables } from "../../../kit/configuration-reference.ts";
import { documentedPart } from "../../../kit/documented-part.ts";
import { load } from "./load-text.ts";

const schema = readConfigurationSchema();
const reference = referenceOf(schema);

/** Every member, also those that may be left out. */
type Whole<Value> = Value extends readonly (infer Item)[]
  ? readonly Whole<Item>[]
  : Value extends ReadonlyMap<string, infer Item>
    ? ReadonlyMap<string, Whole<Item>>
    : Value extends object
      ? { readonly [Name in keyof Value]-?: Exclude<Whole<Value[Name]>, null | undefined> }
      : Value;

const tls = { certFile: "/cert", keyFile: "/key", clientCaFile: "/ca", reloadIntervalMs: 5_000 };
const http = { allowedHosts: ["proxy.example"], allowedOrigins: ["https://board.example"], tls };
const module = { module: "./mine.mjs", options: { some_name: [1, "two"] } };
const asked = { intervalMs: 7_000, timeoutMs: 900, retry: { initialIntervalMs: 200, maxIntervalMs: 800 } };
const clientTls = { caFile: "/ca", certFile: "/cert", keyFile: "/key" };
const askedByHttp = { ...asked, url: "https://one.example/children", tls: clientTls, maxAnswerBytes: 4_096 };

const hermes = {
  source: "a",
  pollIntervalMs: 500,
  attach: true,
  cancel: true,
  nameGoals: false,
  maxFrameBytes: 1_024,
  requestTimeoutMs: 1_000,
  silenceTimeoutMs: 9_000,
};
const stdio = {
  command: ["gateway"] as const,
  workingDirectory: "/srv/gateway",
  environment: new Map([["NAME", "never-shown"]]),
};

const network = {
  headers: new Map([["NAME", "never-shown"]]),
  tls: { caFile: "/ca", certFile: "/cert", keyFile: "/key" },
  timeoutMs: 4_000,
  initialBackoffMs: 100,
  maxBackoffMs: 7_000,
};
const otlp = {
  ...network,
  signals: ["logs", "metrics"],
  compression: "none",
  activities: false,
  metricsIntervalMs: 15_000,
  resourceAttributes: new Map([["NAME", "collector-7"]]),
} as const;
const otlpHttp = {
  ...otlp,
  endpoint: "https://otlp.example",
  logsEndpoint: "https://loki.example/otlp/v1/logs",
  tracesEndpoint: "https://tempo.example/v1/traces",
  metricsEndpoint: "https://prometheus.example/api/v1/otlp/v1/metrics",
  encoding: "json",
} as const;
const otlpGrpc = { ...otlp, endpoint: "otlp.example:4317" };
const webhook = {
  ...network,
  url: "https://hooks.example/lifecycle",
  secret: "never-shown-and-long-enough",
  occasions: ["stale", "lost"],
} as const;

/** A configuration that says everything that can be said, and nothing as the defaults have it. */
const WHOLE: Omit<Whole<CollectorConfiguration>, "access" | "receivers" | "snapshotSources"> &
  Pick<CollectorConfiguration, "access" | "snapshotSources"> & {
    // A gateway has one address and one credential: no single one says everything.
    readonly receivers: Omit<Whole<CollectorConfiguration["receivers"]>, "hermes" | `hermes/${string}`> &
      CollectorConfiguration["receivers"];
  } = {
  receivers: {
    otlp: {
      protocols: {
        http: { endpoint: { host: "::1", port: 1 }, maxRequestBodyBytes: 1_024, ...http },
        grpc: { endpoint: { host: "localhost", port: 2 }, maxRequestBodyBytes: 2_048, tls },
      },
    },
    jsonl_stdin: { maxLineBytes: 100 },
    jsonl_file: { path: "/a.jsonl", maxLineBytes: 100 },
    "jsonl_file/NAME": { path: "/b.jsonl", maxLineBytes: 100 },
    hermes: { ...hermes, url: "ws://127.0.0.1:1/api/ws", token: "never-shown" },
    "hermes/b": { ...hermes, source: "b", url: "ws://127.0.0.1:1/api/ws", tokenFile: "/token" },
    "hermes/c": { ...hermes, source: "c", url: "wss://gateway.example/api/ws", loginCookie: "never-shown" },
    "hermes/d": { ...hermes, source: "d", url: "wss://gateway.example/api/ws", loginCookieFile: "/cookie" },
    "hermes/NAME": { ...hermes, source: "e", stdio },
    module,
    "module/NAME": module,
  },
  exporters: {
    otlp_http: otlpHttp,
    "otlp_http/NAME": otlpHttp,
    otlp_grpc: otlpGrpc,
    "otlp_grpc/NAME": otlpGrpc,
    jsonl: { path: "/updates.jsonl", maxFileBytes: 1_024, keptFiles: 2, activities: false },
    "jsonl/NAME": { path: "/others.jsonl", maxFileBytes: 1_024, keptFiles: 2, activities: false },
    webhook,
    "webhook/NAME": webhook,
    module,
    "module/NAME": module,
  },
  snapshotSources: {
    http: { ...askedByHttp, source: "one", token: "never-shown", tokenFile: undefined },
    "http/NAME": { ...askedByHttp, source: "two", token: undefined, tokenFile: "/token" },
    push: { source: "runner", intervalMs: 4_000, tokenName: "one" },
    "push/NAME": { source: "runner", intervalMs: 4_000, tokenName: "one" },
    module: { ...module, ...asked, source: "five" },
    "module/NAME": { ...module, ...asked, source: "six" },
  },
  api: { endpoint: { host: "127.0.0.2", port: 3 }, maxStreams: 7, ...http },
  storage: {
    path: "/x.db",
    synchronous: "normal",
    retention: { maxAgeMs: 86_400_000, maxSizeBytes: 1_073_741_824, intervalMs: 1_500 },
    backupDirectory: "/backups",
  },
  lifecycle: {
    staleAfterMs: 60_000,
    reconcileDeadlineMs: 10_000,
    missingGrace: 3,
    checkIntervalMs: 500,
    sources: new Map([
      ["NAME", { staleAfterMs: 9_000, reconcileDeadlineMs: 1_000, heartbeatIntervalMs: 3_000, missingGrace: 4 }],
    ]),
  },
  access: {
    insecurePublicBind: true,
    tokens: [
      { name: "one", token: "never-shown", scopes: ["ingest", "read"], sources: ["runner"] },
      { name: "two", tokenFile: "/token", scopes: ["admin"] },
    ],
    certificates: [
      { name: "three", subject: "O=Example, CN=a", scopes: ["ingest"], sources: ["runner"] },
      { name: "four", commonName: "b", scopes: ["read"] },
      { name: "five", alternativeName: "URI:spiffe://example/c", scopes: ["admin"] },
    ],
  },
  limits: {
    queueBytes: 1_048_576,
    bodiesBytes: 2_097_152,
    connections: 10,
    eventLoopDelayMs: 250,
    memory: 536_870_912,
    requestsPerSecond: 50,
    diagnostics: 100,
  },
  service: {
    receivers: ["otlp", "jsonl_stdin"],
    exporters: ["module/NAME"],
    snapshotSources: ["http/NAME", "push/NAME"],
    shutdownTimeoutMs: 3_000,
    telemetry: { logs: { level: "debug" } },
  },
};

const whole: CollectorConfiguration = WHOLE;
/** Every path of a value; names that the operator chooses as the reference has them, items of lists as ITEM. */
const EXAMPLE_ENVIRONMENT = { INGEST_TOKEN: "some-token", WEBHOOK_SECRET: "a-secret-of-enough-characters" };

function leavesOf(value: unknown, path: string): readonly string[] {
  const isEnd =
    typeof value !== "object" || value === null || reference.some((entry) => entry.path === path && entry.isLeaf);
  if (isEnd) return [path];
  return Object.entries(value).flatMap(([name, member]) => {
    const key = Array.isArray(value) ? "ITEM" : name;
    return leavesOf(member, path === "" ? key : `${path}.${key}`);
  });
}

function valueAt(value: unknown, path: string): unknown {
  let current = value;
  for (const name of path.split(".")) {
    if (typeof current !== "object" || current === null) return undefined;
    current = new Map(Object.entries(current)).get(name);
  }
  return current;
}

describe("schema, types, defaults and documents say the same", () => {
  it("a configuration that says everything is, as a file, the same configuration", () => {
    const printed = stringify(printableConfiguration(whole, schema))
      .replaceAll(/secret: "\[redacted\]"/g, "secret: never-shown-and-long-enough")
      .replaceAll('"[redacted]"', "never-shown");
    const { configuration, problems } = load(printed);
    expect(problems).toEqual([]);
    expect(configuration).toEqual(whole);
  });

  it("the schema has exactly the members of the types", () => {
    const printed = leavesOf(printableConfiguration(whole, schema), "").map((path) =>
      path
        .replace(/^receivers\.hermes[^.]*\./, "receivers.hermes/NAME.")
        .replace(/^snapshot_sources\.http[^.]*\./, "snapshot_sources.http/NAME."),
    );
    const known = new Set(reference.filter(({ isLeaf }) => isLeaf).map(({ path }) => path));
    // A component's type alone is an id as well; the reference shows the form with a name.
    const unnamed = printed.filter(
      (path) =>
        !/^(?:receivers\.(?:jsonl_file|module)|exporters\.(?:otlp_http|otlp_grpc|jsonl|webhook|module)|snapshot_sources\.[a-z]+)\./.test(
          path,
        ),
    );
    expect(new Set(unnamed)).toEqual(known);
  });

  it("the schema's defaults are those in force", () => {
    const printed = printableConfiguration(DEFAULT_CONFIGURATION, schema);
    for (const { path, default: said, isLeaf } of reference) {
      if (!isLeaf || /NAME|ITEM|jsonl_stdin|\.tls\.|^service\.(?:receivers|exporters|snapshot_sources)$/.test(path))
        continue;
      expect([path, valueAt(printed, path)]).toEqual([path, said]);
    }
    for (const { path, default: said } of reference.filter((entry) =>
      /^(?:receivers|snapshot_sources)\..*(?:NAME|stdin)\./.test(entry.path),
    )) {
      if (said === undefined) continue;
      const text = `
receivers: { jsonl_stdin: , jsonl_file/NAME: { path: /p }, module/NAME: { module: ./m.mjs }, hermes/NAME: { stdio: } }
snapshot_sources:
  http/NAME: { source: one, url: "https://one.example" }
  push/NAME: { source: two }
  module/NAME: { source: three, module: ./m.mjs }`;
      const stated = printableConfiguration(load(text).configuration, schema);
      expect([path, valueAt(stated, path)]).toEqual([path, said]);
    }
    const withTls = load("api: { tls: { cert_file: /c, key_file: /k } }").configuration;
    for (const { path, default: said } of reference.filter(
      (entry) => /^api\.tls\./.test(entry.path) && !entry.isRequired,
    )) {
      expect([path, valueAt(printableConfiguration(withTls, schema), path)]).toEqual([path, said]);
    }
  });

  test.each(reference)("$path is described", ({ description, path }) => {
    if (!path.endsWith("ITEM") && !/\.sources\.NAME$/.test(path)) expect(description).toMatch(/^[A-Z`].*[.]$/);
  });

  it("docs/configuration.md holds the reference", () => {
    const tables = referenceTables(schema);
    expect(documentedPart("configuration.md", "reference", tables)).toBe(tables);
  });

  it("the examples of docs/configuration.md can be used", () => {
    const page = readFileSync(new URL("../../../../docs/configuration.md", import.meta.url), "utf8");
    const examples = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => String(text));
    expect(examples.length).toBeGreaterThan(0);
    for (const text of examples) expect(load(text, EXAMPLE_ENVIRONMENT).problems).toEqual([]);
  });
});

describe("what is printed", () => {
  it("holds no token, and of a module's options nothing that looks like a secret or came from the environment", () => {
    const text = `
receivers:
  module/mine:
    module: ./mine.mjs
    options: { api_key: hunter2-hunter2, nested: [{ password: hunter3-hunter3 }], url: "\${env:SOMETHING}", size: 3 }
access: { tokens: [{ name: a, token: hunter4-hunter4, scopes: [read] }] }`;
    const { configuration, isFromEnvironment } = load(text, { SOMETHING: "hunter5-hunter5" });
    const printed = stringify(printableConfiguration(configuration, schema, isFromEnvironment));
    expect(printed).not.toContain("hunter");
    expect(printed).toContain("size: 3");
    expect(printed.match(/\[redacted\]/g)).toHaveLength(4);
  });
});
