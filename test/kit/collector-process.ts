import { type Program, type ProgramEnd, type ProgramOptions, startCommand } from "./program.ts";

export interface CollectorProcess {
  readonly program: Program;
  readonly pid: number;
  /** Base URLs, as the collector announced them. */
  readonly ingestUrl: string;
  readonly apiUrl: string;
  /** OTLP/gRPC as a URL. */
  readonly grpcUrl: string;
  /** The JSON of an API path. @throws Error when the answer is no success. */
  get<Answer>(path: string): Promise<Answer>;
  /** Sends a signal and resolves when the process has ended. */
  endBy(signal: NodeJS.Signals): Promise<ProgramEnd>;
}

/** Starts a real collector on free ports and resolves when it is ready. */
export async function startCollector(
  database: string,
  argv: readonly string[] = [],
  options: ProgramOptions = {},
): Promise<CollectorProcess> {
  const program = startCommand(
    ["collector", "--json", "--database", database, "--ingest-port", "0", "--api-port", "0", ...argv],
    options,
  );
  const announcement = JSON.parse(await program.line((line) => line.startsWith("{"))) as {
    readonly ready: boolean;
    readonly ingest: string;
    readonly grpc: string;
    readonly api: string;
  };
  if (!announcement.ready) throw new Error("the collector announced itself and is not ready");
  return {
    program,
    pid: program.pid,
    ingestUrl: announcement.ingest,
    apiUrl: announcement.api,
    grpcUrl: announcement.grpc,
    get: async <Answer>(path: string): Promise<Answer> => {
      const response = await fetch(new URL(path, announcement.api));
      if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
      return (await response.json()) as Answer;
    },
    endBy: (signal) => {
      program.process.kill(signal);
      return program.end;
    },
  };
}
