// An orchestrator that is the authority for its own children: it sends their events, and answers whoever asks it who lives.
//   AGENT_LIFECYCLE_SNAPSHOT_TOKEN=$(openssl rand -hex 32) npx node examples/authority/orchestrator.js
// Where events go is said by OTEL_EXPORTER_OTLP_ENDPOINT (default http://localhost:4318).
import { spawn } from "node:child_process";
import { createLifecycle } from "@agent-lifecycle/sdk";
import { serveSnapshots } from "@agent-lifecycle/sdk/snapshots";

const lifecycle = createLifecycle({ source: "orchestrator" });
// Before the first child begins, so that nobody is missing. Nobody else reports children of this source: `all`.
const snapshots = serveSnapshots(lifecycle, {
  token: process.env.AGENT_LIFECYCLE_SNAPSHOT_TOKEN,
  port: Number(process.env.SNAPSHOT_PORT ?? 8900),
  coverage: "all",
});

/** Runs a program as a child, and says how it ended. */
function run(name, argv) {
  const child = lifecycle.child({ details: { name } });
  child.starting();
  const program = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
  program.once("spawn", () => child.running());
  program.stdout.setEncoding("utf8").on("data", (text) => child.activity(text.trim()));
  program.once("error", (error) => child.failed(error));
  program.once("exit", (exitCode, signal) => {
    if (exitCode === 0) child.completed({ exitCode });
    else child.failed(signal === null ? "exit" : "signal", signal === null ? { exitCode } : { signal });
  });
  return program;
}

const work = "for (const page of [1, 2, 3]) console.log('page ' + page); setTimeout(() => {}, 60_000);";
const programs = ["researcher", "reviewer"].map((name) => run(name, ["-e", work]));
console.log(JSON.stringify({ snapshots: await snapshots.url }));

process.once("SIGTERM", async () => {
  await Promise.all(
    programs.map(
      (program) =>
        new Promise((resolve) => {
          if (program.exitCode !== null || program.signalCode !== null) return resolve();
          program.once("exit", resolve);
          program.kill();
        }),
    ),
  );
  await lifecycle.shutdown();
});
