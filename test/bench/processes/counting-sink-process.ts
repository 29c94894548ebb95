import { fileURLToPath } from "node:url";
import { ServerProcess } from "./server-process.ts";

const PROGRAM = fileURLToPath(import.meta.resolve("./counting-sink.js"));

export interface CountingSink {
  readonly url: string;
  /** Resolves when so many requests have come since the start. */
  received(requests: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startCountingSink(core: number | undefined): Promise<CountingSink> {
  const server = await ServerProcess.startNode([PROGRAM], core);
  const url = String(server.addresses["ingest"]);
  return {
    url,
    received: async (requests) => {
      const answer = await fetch(`${url}/?requests=${requests}`);
      await answer.text();
    },
    stop: () => server.stop(),
  };
}
