import { join } from "node:path";
import { resolveConfiguration, startCollector } from "@agent-lifecycle/collector";
import { createMetrics, createOtlpGrpcReceiver } from "@agent-lifecycle/collector/parts";
import { onTestFinished } from "vitest";
import { temporaryDirectory } from "./event-file.ts";

export interface GrpcCollector {
  /** Base URLs of OTLP/HTTP and OTLP/gRPC, and of the API. */
  readonly ingestUrl: string;
  readonly grpcUrl: string;
  readonly apiUrl: string;
  /** The JSON of an API path. @throws Error when the answer is no success. */
  get<Answer>(path: string): Promise<Answer>;
}

/** A whole collector in this process, on free ports, with OTLP/gRPC beside OTLP/HTTP; gone when the test is. */
export async function startGrpcCollector(): Promise<GrpcCollector> {
  const faults: unknown[] = [];
  const endpoint = { port: 0 };
  const { configuration } = resolveConfiguration({
    storage: { path: join(temporaryDirectory(), "collector.db") },
    receivers: { otlp: { protocols: { http: { endpoint }, grpc: null } } },
    api: { endpoint },
  });
  const log = { info: () => {}, error: (members: object) => void faults.push(members) };
  const collector = await startCollector(configuration, { log });
  const receiver = createOtlpGrpcReceiver({
    intake: collector.intake,
    telemetry: createMetrics().telemetry,
    port: 0,
    onError: (error) => void faults.push(error),
  });
  await receiver.start();
  onTestFinished(async () => {
    await receiver.shutdown();
    await collector.shutdown();
    if (faults.length > 0) throw new Error(JSON.stringify(faults));
  });
  const { ingestUrl, apiUrl } = collector;
  if (ingestUrl === undefined) throw new Error("OTLP/HTTP is off");
  return {
    ingestUrl,
    grpcUrl: receiver.endpoint(),
    apiUrl,
    get: async <Answer>(path: string): Promise<Answer> => {
      const response = await fetch(new URL(path, apiUrl));
      if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
      return (await response.json()) as Answer;
    },
  };
}
