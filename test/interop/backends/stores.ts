import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { closedPort } from "../../kit/closed-port.ts";
import type { Found } from "./programs.ts";
import { answersAt, getJson, Server } from "./server.ts";
import { SOURCE } from "./workload.ts";

/** What a back end holds: how many, and how many of them are not the same again. */
export interface Held {
  readonly total: number;
  readonly distinct: number;
}

/** A store of back ends, as far as the tests ask it. */
export interface Backend {
  readonly server: Server;
  /** What an exporter of ours is configured with. */
  readonly exporter: Readonly<Record<string, unknown>>;
  held(): Promise<Held>;
  /** Whether a probe has come to it. */
  has(childId: string): Promise<boolean>;
}

type There = Extract<Found, { readonly isThere: true }>;

const RETRIES = { initial_backoff: "20ms", max_backoff: "500ms", timeout: "5s" } as const;

export interface VictoriaLogs extends Backend {
  readonly insertUrl: string;
  query<Row>(logsql: string): Promise<readonly Row[]>;
  heldOf(service: string): Promise<Held>;
}

export async function victoriaLogs({ path }: There, folder: string): Promise<VictoriaLogs> {
  const port = await closedPort();
  const url = `http://127.0.0.1:${port}`;
  const server = new Server(
    path,
    [`-storageDataPath=${join(folder, "victoria-logs")}`, `-httpListenAddr=127.0.0.1:${port}`, "-loggerLevel=ERROR"],
    () => answersAt(`${url}/health`),
  );
  const query = async <Row>(logsql: string): Promise<readonly Row[]> => {
    const asked = new URL("/select/logsql/query", url);
    asked.searchParams.set("query", logsql);
    const response = await fetch(asked);
    const text = await response.text();
    if (!response.ok) throw new Error(`${logsql}: ${text}`);
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Row);
  };
  const heldOf = async (service: string): Promise<Held> => {
    const counted = `_time:1d event_name:="agent_lifecycle.projection" service.name:="${service}" agent_lifecycle.source:="${SOURCE}"`;
    const [row] = await query<{ readonly total: string; readonly uids: string }>(
      `${counted} | stats count() total, count_uniq("log.record.uid") uids`,
    );
    return { total: Number(row?.total ?? 0), distinct: Number(row?.uids ?? 0) };
  };
  return {
    server,
    insertUrl: `${url}/insert/opentelemetry/v1/logs`,
    exporter: { logs_endpoint: `${url}/insert/opentelemetry/v1/logs`, signals: ["logs"], ...RETRIES },
    query,
    heldOf,
    held: () => heldOf("agent-lifecycle-collector"),
    has: async (childId) =>
      (await query(`_time:1d service.name:="agent-lifecycle-collector" agent_lifecycle.child_id:="${childId}"`))
        .length > 1,
  };
}

interface JaegerTraces {
  readonly data: readonly {
    readonly spans: readonly { readonly traceID: string; readonly spanID: string; readonly operationName: string }[];
  }[];
}

export interface Jaeger extends Backend {
  spansOf(childId: string): Promise<readonly string[]>;
}

export async function jaeger({ path }: There, folder: string): Promise<Jaeger> {
  const [query, grpc, otlp] = [await closedPort(), await closedPort(), await closedPort()];
  const data = join(folder, "jaeger");
  mkdirSync(join(data, "keys"), { recursive: true });
  mkdirSync(join(data, "values"), { recursive: true });
  const file = join(folder, "jaeger.yaml");
  const url = `http://127.0.0.1:${query}`;
  writeFileSync(
    file,
    JSON.stringify({
      extensions: {
        jaeger_storage: {
          backends: {
            main: {
              badger: { directories: { keys: join(data, "keys"), values: join(data, "values") }, ephemeral: false },
            },
          },
        },
        jaeger_query: {
          storage: { traces: "main" },
          http: { endpoint: `127.0.0.1:${query}` },
          grpc: { endpoint: `127.0.0.1:${grpc}` },
        },
      },
      receivers: { otlp: { protocols: { grpc: { endpoint: `127.0.0.1:${otlp}` } } } },
      exporters: { jaeger_storage_exporter: { trace_storage: "main" } },
      service: {
        extensions: ["jaeger_storage", "jaeger_query"],
        pipelines: { traces: { receivers: ["otlp"], exporters: ["jaeger_storage_exporter"] } },
        telemetry: { metrics: { level: "none" }, logs: { level: "error" } },
      },
    }),
  );
  const find = async (tags?: object): Promise<JaegerTraces["data"]> => {
    const asked = new URL("/api/traces", url);
    asked.searchParams.set("service", "agent-lifecycle-collector");
    asked.searchParams.set("limit", "10000");
    asked.searchParams.set("lookback", "1h");
    if (tags !== undefined) asked.searchParams.set("tags", JSON.stringify(tags));
    return (await getJson<JaegerTraces>(asked)).data;
  };
  return {
    server: new Server(path, ["--config", `file:${file}`], () => answersAt(`${url}/api/services`)),
    exporter: { endpoint: `127.0.0.1:${otlp}`, signals: ["traces"], ...RETRIES },
    held: async () => {
      const spans = (await find()).flatMap((trace) => trace.spans);
      return {
        total: spans.length,
        distinct: new Set(spans.map(({ traceID, spanID }) => `${traceID}/${spanID}`)).size,
      };
    },
    has: async (childId) =>
      (await find({ "agent_lifecycle.child_id": childId })).flatMap(({ spans }) => spans).length > 1,
    spansOf: async (childId) =>
      (await find({ "agent_lifecycle.child_id": childId }))
        .flatMap(({ spans }) => spans)
        .map(({ operationName }) => operationName),
  };
}

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Prometheus extends Backend {
  /** Whether it takes metrics by OTLP: the package of an older system does not. */
  readonly takesOtlp: boolean;
  query(promql: string): Promise<readonly Sample[]>;
}

export async function prometheus({ path, version }: There, folder: string, apiPort: number): Promise<Prometheus> {
  const port = await closedPort();
  const url = `http://127.0.0.1:${port}`;
  // The module of Prometheus 3.16 has the version 0.316.
  const takesOtlp = /^v(?:0\.3|[3-9]\.)/.test(version);
  const file = join(folder, "prometheus.yml");
  writeFileSync(
    file,
    JSON.stringify({
      global: { scrape_interval: "1s", scrape_timeout: "1s" },
      scrape_configs: [{ job_name: "agent-lifecycle", static_configs: [{ targets: [`127.0.0.1:${apiPort}`] }] }],
    }),
  );
  const query = async (promql: string): Promise<readonly Sample[]> => {
    const asked = new URL("/api/v1/query", url);
    asked.searchParams.set("query", promql);
    const { data } = await getJson<{
      readonly data: {
        readonly result: readonly { readonly metric: Sample["metric"]; readonly value: readonly [number, string] }[];
      };
    }>(asked);
    return data.result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
  };
  const created = `sum(agent_lifecycle_transitions_total{job="agent-lifecycle-collector", source="${SOURCE}", to="created"})`;
  let seen = 0;
  return {
    server: new Server(
      path,
      [
        `--config.file=${file}`,
        `--storage.tsdb.path=${join(folder, "prometheus")}`,
        `--web.listen-address=127.0.0.1:${port}`,
        ...(takesOtlp ? ["--web.enable-otlp-receiver"] : []),
        "--log.level=error",
      ],
      () => answersAt(`${url}/-/ready`),
    ),
    exporter: { endpoint: `${url}/api/v1/otlp`, signals: ["metrics"], metrics_interval: "500ms", ...RETRIES },
    takesOtlp,
    query,
    held: async () => {
      const [sample] = await query(created);
      return { total: sample?.value ?? 0, distinct: sample?.value ?? 0 };
    },
    has: async () => {
      const [sample] = await query(created);
      const isNew = (sample?.value ?? 0) > seen;
      if (isNew) seen = sample?.value ?? 0;
      return isNew;
    },
  };
}
