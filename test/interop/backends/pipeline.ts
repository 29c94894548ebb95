import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodeLogsProtobuf } from "@agent-lifecycle/proto";
import { closedPort } from "../../kit/closed-port.ts";
import { type CollectorProcess, startCollector } from "../../kit/collector-process.ts";
import { Server } from "./server.ts";
import type { Wave } from "./workload.ts";

const QUEUE = {
  sending_queue: { enabled: true, storage: "file_storage" },
  retry_on_failure: { enabled: true, initial_interval: "50ms", max_interval: "500ms", max_elapsed_time: "0s" },
} as const;

/** An OpenTelemetry Collector that takes logs by both protocols and passes them on, with a queue on disk. */
export interface Relay {
  readonly server: Server;
  readonly logsUrl: string;
  readonly grpcTarget: string;
}

export async function relay(program: string, folder: string, name: string, target: object): Promise<Relay> {
  const [http, grpc] = [await closedPort(), await closedPort()];
  const file = join(folder, `${name}.yaml`);
  const logsUrl = `http://127.0.0.1:${http}/v1/logs`;
  writeFileSync(
    file,
    JSON.stringify({
      extensions: { file_storage: { directory: join(folder, name), create_directory: true, fsync: true } },
      receivers: {
        otlp: { protocols: { http: { endpoint: `127.0.0.1:${http}` }, grpc: { endpoint: `127.0.0.1:${grpc}` } } },
      },
      processors: { memory_limiter: { check_interval: "1s", limit_mib: 512 } },
      exporters: { otlp_http: { ...target, ...QUEUE } },
      service: {
        extensions: ["file_storage"],
        pipelines: { logs: { receivers: ["otlp"], processors: ["memory_limiter"], exporters: ["otlp_http"] } },
        telemetry: { metrics: { level: "none" }, logs: { level: "error" } },
      },
    }),
  );
  const isReady = async (): Promise<boolean> => (await fetch(logsUrl, protobuf(new Uint8Array()))).ok;
  return {
    server: new Server(program, ["--config", `file:${file}`], isReady),
    logsUrl,
    grpcTarget: `127.0.0.1:${grpc}`,
  };
}

function protobuf(body: Uint8Array): RequestInit {
  return { method: "POST", headers: { "content-type": "application/x-protobuf" }, body: Buffer.from(body) };
}

/** Sends a wave as a producer does. Resolves when it was acknowledged. */
export async function send(logsUrl: string, { events }: Wave): Promise<void> {
  const records = events.map((event) => ({ event, emittedAtMs: Date.now() }));
  const body = encodeLogsProtobuf({ resourceAttributes: { "service.name": "producer" }, records });
  const response = await fetch(logsUrl, protobuf(body));
  if (!response.ok) throw new Error(`${logsUrl} answered ${response.status}`);
}

/** Our collector on ports that it keeps, so that it can be killed and started again. */
export class OurCollector {
  readonly apiPort: number;
  readonly ingestPort: number;
  readonly #folder: string;
  #process: CollectorProcess | undefined;

  constructor(folder: string, ports: { readonly apiPort: number; readonly ingestPort: number }) {
    this.#folder = folder;
    this.apiPort = ports.apiPort;
    this.ingestPort = ports.ingestPort;
  }

  configure(exporters: object): void {
    writeFileSync(
      join(this.#folder, "collector.yaml"),
      JSON.stringify({ receivers: { otlp: { protocols: { http: null } } }, exporters }),
    );
  }

  async start(): Promise<void> {
    this.#process = await startCollector(join(this.#folder, "collector.db"), [
      "--config",
      join(this.#folder, "collector.yaml"),
      "--ingest-port",
      String(this.ingestPort),
      "--api-port",
      String(this.apiPort),
    ]);
  }

  get running(): CollectorProcess {
    if (this.#process === undefined) throw new Error("the collector does not run");
    return this.#process;
  }

  async kill(): Promise<void> {
    await this.running.endBy("SIGKILL");
  }

  /** One value of its own metrics; 0 when there is no such series. */
  async metric(series: string): Promise<number> {
    const text = await (await fetch(new URL("/metrics", this.running.apiUrl))).text();
    const line = text.split("\n").find((one) => one.startsWith(`${series} `));
    return line === undefined ? 0 : Number(line.slice(series.length + 1));
  }
}
