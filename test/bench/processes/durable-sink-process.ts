import { fileURLToPath } from "node:url";
import { ServerProcess } from "./server-process.ts";

export const DURABLE_SINK = "bare HTTP + fsync, decodes nothing";

const PROGRAM = fileURLToPath(import.meta.resolve("./durable-sink.js"));

export interface RunningSink {
  readonly server: ServerProcess;
  readonly logsUrl: string;
}

/** Starts the baseline of ingest on a file of its own. */
export async function startDurableSink(path: string): Promise<RunningSink> {
  const server = await ServerProcess.startNode([PROGRAM, path]);
  return { server, logsUrl: `${String(server.addresses["ingest"])}/v1/logs` };
}
