import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

export interface HostEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly elapsedMs: number;
}

export interface HostProcess {
  readonly process: ChildProcess;
  /** Resolves when the host has written this line to stdout. */
  line(text: string): Promise<void>;
  readonly end: Promise<HostEnd>;
}

/** Runs a script of `test/fixtures/sdk` as a host of the SDK, on the sources, with nothing of our own environment but PATH. */
export function startHost(
  script: string,
  argv: readonly string[],
  environment: Readonly<Record<string, string>>,
  nodeArguments: readonly string[] = [],
): HostProcess {
  const path = fileURLToPath(new URL(`../../fixtures/sdk/${script}`, import.meta.url));
  const startedAt = performance.now();
  const host = spawn(process.execPath, ["--conditions=@agent-lifecycle/source", ...nodeArguments, path, ...argv], {
    env: { PATH: process.env.PATH ?? "", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  const watchers = new Set<() => void>();
  host.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
    for (const watcher of watchers) watcher();
  });
  host.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  const end = new Promise<HostEnd>((resolve, reject) => {
    host.on("error", reject);
    host.on("close", (code, signal) =>
      resolve({ code, signal, stdout, stderr, elapsedMs: performance.now() - startedAt }),
    );
  });
  onTestFinished(() => {
    host.kill("SIGKILL");
  });
  return {
    process: host,
    line: (text) =>
      new Promise((resolve, reject) => {
        const watcher = (): void => {
          if (!stdout.split("\n").includes(text)) return;
          watchers.delete(watcher);
          resolve();
        };
        watchers.add(watcher);
        watcher();
        void end.then(({ stderr: said }) => reject(new Error(`the host ended without saying ${text}: ${said}`)));
      }),
    end,
  };
}
