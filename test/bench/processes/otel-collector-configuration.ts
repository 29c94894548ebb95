export interface OtelCollectorOptions {
  /** Port of its OTLP/HTTP receiver on loopback. */
  readonly port: number;
  /** Base URL that it forwards everything to. */
  readonly sinkUrl: string;
  /** An existing folder for its persistent queue. */
  readonly storageFolder: string;
  /** Whether its queue is flushed to the disk before it acknowledges, or left to the operating system. */
  readonly fsync: boolean;
}

/**
 * The configuration of the Collector that ours is measured against: what it acknowledges is in its persistent queue,
 * and no part of it loses, refuses or compresses anything. There is no `batch` processor, because that one acknowledges
 * before anything is stored; and a full queue makes senders wait instead of refusing them, so that what is acknowledged
 * is work it keeps up with.
 * @returns YAML (JSON is a part of it).
 */
export function otelCollectorConfiguration(options: OtelCollectorOptions): string {
  const { port, sinkUrl, storageFolder, fsync } = options;
  return JSON.stringify({
    extensions: { file_storage: { directory: storageFolder, fsync } },
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
    processors: { memory_limiter: { check_interval: "1s", limit_mib: 2048, spike_limit_mib: 256 } },
    exporters: {
      otlp_http: {
        endpoint: sinkUrl,
        compression: "none",
        sending_queue: { enabled: true, storage: "file_storage", block_on_overflow: true },
      },
    },
    service: {
      extensions: ["file_storage"],
      pipelines: { logs: { receivers: ["otlp"], processors: ["memory_limiter"], exporters: ["otlp_http"] } },
      telemetry: { metrics: { level: "none" }, logs: { level: "info" } },
    },
  });
}
