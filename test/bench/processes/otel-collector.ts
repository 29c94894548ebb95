import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { closedPort } from "../../kit/closed-port.ts";
import type { Cores } from "./core-pinning.ts";
import { startCountingSink } from "./counting-sink-process.ts";
import { otelCollectorConfiguration } from "./otel-collector-configuration.ts";
import { ServerProcess } from "./server-process.ts";

export interface RunningOtelCollector {
  readonly server: ServerProcess;
  readonly logsUrl: string;
  /** Resolves when so many requests since the start have left its queue for the sink. */
  handedOn(requests: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a Collector with a persistent queue, and beside those who load it the sink that it sends to. */
export async function startOtelCollector(
  program: string,
  folder: string,
  { fsync, cores }: { readonly fsync: boolean; readonly cores: Cores | undefined },
): Promise<RunningOtelCollector> {
  const storageFolder = join(folder, "queue");
  await mkdir(storageFolder, { recursive: true });
  const sink = await startCountingSink(cores?.load);
  try {
    // It cannot be told to take any free port and say which; one that is taken in between makes it end with words.
    const port = await closedPort();
    const file = join(folder, "otel-collector.yaml");
    await writeFile(file, otelCollectorConfiguration({ port, sinkUrl: sink.url, storageFolder, fsync }));
    const logsUrl = `http://127.0.0.1:${port}/v1/logs`;
    const server = await ServerProcess.start({
      argv: [program, "--config", `file:${file}`],
      core: cores?.server,
      readyOn: "stderr",
      addressesIn: (line) => (line.includes("Everything is ready") ? { ingest: logsUrl } : undefined),
    });
    const stop = async (): Promise<void> => {
      await server.stop();
      await sink.stop();
    };
    return { server, logsUrl, handedOn: (requests) => sink.received(requests), stop };
  } catch (error) {
    await sink.stop();
    throw error;
  }
}
