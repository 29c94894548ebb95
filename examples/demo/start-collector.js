import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

const program = join(import.meta.dirname, "../../collector/bin/agent-lifecycle.js");

/** Starts the collector on free ports and waits until it is ready. */
export async function startCollector({ folder, jsonlFile, staleAfterMs, reconcileDeadlineMs }) {
  const database = join(folder, "collector.db");
  const collector = command(
    [
      ["collector", "--json", "--database", database, "--follow", jsonlFile],
      ["--ingest-port", "0", "--api-port", "0", "--liveness-interval-ms", "250"],
      ["--stale-after-ms", staleAfterMs, "--reconcile-deadline-ms", reconcileDeadlineMs],
    ].flat(),
    ["ignore", "pipe", "inherit"],
  );
  const { ingest, api } = await readyLine(collector);
  return {
    ingest,
    api,
    get: async (path) => (await fetch(new URL(path, api))).json(),
    watch: () => {
      const table = command(["watch", "--url", api, "--interval-ms", "500"], ["ignore", "inherit", "inherit"]);
      return { stop: () => end(table) };
    },
    stop: () => end(collector),
    verify: async () => {
      const verifier = command(["verify", "--database", database], ["ignore", "inherit", "inherit"]);
      return (await ended(verifier)) === 0;
    },
  };
}

function command(programArguments, stdio) {
  return spawn(process.execPath, [program, ...programArguments.map(String)], { stdio });
}

async function readyLine(collector) {
  const [line] = await Promise.race([
    once(createInterface({ input: collector.stdout }), "line"),
    once(collector, "exit").then(([exitCode]) => {
      throw new Error(`the collector did not start (exit code ${exitCode})`);
    }),
  ]);
  return JSON.parse(line);
}

/** Asks it to end and waits until it has. */
async function end(child) {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  }
  return child.exitCode;
}

async function ended(child) {
  const [exitCode] = await once(child, "exit");
  return exitCode;
}
