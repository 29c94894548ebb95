import { type ConfiguredExporter, exportersInUse } from "./components.ts";
import type { ExportersConfiguration } from "./configuration.ts";
import type {
  ClientTlsConfiguration,
  ExportedSignal,
  JsonlExporterConfiguration,
  OtlpHttpExporterConfiguration,
} from "./exporter-configuration.ts";
import type { ConfigurationPath, ConfigurationProblem } from "./problem.ts";

/** A shorter one could be found by trying. */
const MIN_SECRET_LENGTH = 24;

/** What is wrong with exporters, those that do not run among them. No text holds a credential. */
export function exporterProblems(exporters: ExportersConfiguration): readonly ConfigurationProblem[] {
  const all = exportersInUse({ exporters, service: { exporters: Object.keys(exporters) } });
  return [...all.flatMap(problemsOf), ...sharedFileProblems(all)];
}

function problemsOf(exporter: ConfiguredExporter): readonly ConfigurationProblem[] {
  const path = ["exporters", exporter.id];
  switch (exporter.type) {
    case "otlp_http":
      return [...httpProblems(path, exporter.settings), ...otlpProblems(path, exporter.settings)];
    case "otlp_grpc":
      return [
        ...targetProblems([...path, "endpoint"], exporter.settings.endpoint),
        ...otlpProblems(path, exporter.settings),
      ];
    case "jsonl":
      return jsonlProblems(path, exporter.settings);
    case "webhook": {
      const { url, secret, occasions } = exporter.settings;
      const short = { path: [...path, "secret"], text: `must have at least ${MIN_SECRET_LENGTH} characters` };
      return [
        ...urlProblems([...path, "url"], url),
        ...(secret !== undefined && secret.length < MIN_SECRET_LENGTH ? [short] : []),
        ...(occasions.length === 0 ? [{ path: [...path, "occasions"], text: "must name one at least" }] : []),
        ...networkProblems(path, exporter.settings),
      ];
    }
    case "module":
      return [];
  }
}

const SIGNAL_ENDPOINTS: Readonly<Record<ExportedSignal, readonly [name: string, key: `${ExportedSignal}Endpoint`]>> = {
  logs: ["logs_endpoint", "logsEndpoint"],
  traces: ["traces_endpoint", "tracesEndpoint"],
  metrics: ["metrics_endpoint", "metricsEndpoint"],
};

function httpProblems(
  path: ConfigurationPath,
  settings: OtlpHttpExporterConfiguration,
): readonly ConfigurationProblem[] {
  const { endpoint, signals } = settings;
  const missing = signals.filter(
    (signal) => endpoint === undefined && settings[SIGNAL_ENDPOINTS[signal][1]] === undefined,
  );
  const stated = Object.values(SIGNAL_ENDPOINTS).map(([name, key]) => [name, settings[key]] as const);
  return [
    ...(missing.length > 0 ? [{ path, text: `needs endpoint, or one for each signal: ${missing.join(", ")}` }] : []),
    ...[["endpoint", endpoint] as const, ...stated].flatMap(([name, url]) =>
      url === undefined ? [] : urlProblems([...path, name], url),
    ),
  ];
}

function urlProblems(path: ConfigurationPath, text: string): readonly ConfigurationProblem[] {
  if (!URL.canParse(text)) return [{ path, text: "must be an address such as https://otlp.example:4318" }];
  const { protocol, username, password } = new URL(text);
  if (protocol !== "http:" && protocol !== "https:") return [{ path, text: "must begin with http:// or https://" }];
  if (username === "" && password === "") return [];
  return [{ path, text: "must hold no credentials: they belong into headers" }];
}

function targetProblems(path: ConfigurationPath, text: string): readonly ConfigurationProblem[] {
  const port = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):(\d{1,5})$/.exec(text)?.[1];
  if (port !== undefined && Number(port) > 0 && Number(port) < 65_536) return [];
  return [{ path, text: "must be a host and a port such as otlp.example:4317, without http://" }];
}

function otlpProblems(
  path: ConfigurationPath,
  settings: Pick<OtlpHttpExporterConfiguration, "signals" | "metricsIntervalMs"> & NetworkSettings,
): readonly ConfigurationProblem[] {
  const { signals, metricsIntervalMs } = settings;
  return [
    ...(signals.length === 0 ? [{ path: [...path, "signals"], text: "must name one at least" }] : []),
    ...quantityProblems(path, [["metrics_interval", metricsIntervalMs]]),
    ...networkProblems(path, settings),
  ];
}

type NetworkSettings = Pick<
  OtlpHttpExporterConfiguration,
  "timeoutMs" | "initialBackoffMs" | "maxBackoffMs" | "tls" | "headers"
>;

function networkProblems(path: ConfigurationPath, settings: NetworkSettings): readonly ConfigurationProblem[] {
  const { timeoutMs, initialBackoffMs, maxBackoffMs, tls, headers } = settings;
  const names = [...headers.keys()].filter((name) => !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name));
  const isInverted = initialBackoffMs > maxBackoffMs;
  return [
    ...quantityProblems(path, [
      ["timeout", timeoutMs],
      ["initial_backoff", initialBackoffMs],
      ["max_backoff", maxBackoffMs],
    ]),
    ...(isInverted ? [{ path: [...path, "initial_backoff"], text: "must not be longer than max_backoff" }] : []),
    ...names.map((name) => ({ path: [...path, "headers", name], text: "is no name of a header" })),
    ...(tls === undefined ? [] : tlsProblems([...path, "tls"], tls)),
  ];
}

function tlsProblems(
  path: ConfigurationPath,
  { certFile, keyFile }: ClientTlsConfiguration,
): readonly ConfigurationProblem[] {
  if ((certFile === undefined) === (keyFile === undefined)) return [];
  return [{ path, text: "cert_file and key_file belong together" }];
}

function jsonlProblems(
  path: ConfigurationPath,
  { maxFileBytes, keptFiles }: JsonlExporterConfiguration,
): readonly ConfigurationProblem[] {
  return quantityProblems(path, [
    ["max_file", maxFileBytes],
    ["kept_files", keptFiles],
  ]);
}

/** Two that rotate one file would lose lines. */
function sharedFileProblems(exporters: readonly ConfiguredExporter[]): readonly ConfigurationProblem[] {
  const files = exporters.flatMap((exporter) => (exporter.type === "jsonl" ? [exporter] : []));
  return files.flatMap(({ id, settings }, index) => {
    const first = files.findIndex((other) => other.settings.path === settings.path);
    if (first === index || settings.path === undefined) return [];
    return [{ path: ["exporters", id, "path"], text: `${files[first]?.id} writes this file` }];
  });
}

function quantityProblems(
  path: ConfigurationPath,
  quantities: readonly (readonly [name: string, value: number])[],
): readonly ConfigurationProblem[] {
  return quantities.flatMap(([name, value]) =>
    Number.isSafeInteger(value) && value > 0
      ? []
      : [{ path: [...path, name], text: `must be a whole number above 0, not ${value}` }],
  );
}
