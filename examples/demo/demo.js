// Real child processes, one collector, and at the end a comparison of what it says with what happened.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { checkOutcomes } from "./check-outcomes.js";
import { startCollector } from "./start-collector.js";

const here = import.meta.dirname;
/** Shortened so that silence is judged while somebody watches: 2.5 s to stale, 2.5 s more to lost. */
const STALE_AFTER_MS = 2_500;
const RECONCILE_DEADLINE_MS = 2_500;
const HEARTBEAT_INTERVAL_MS = 500;
const DEADLINE_MS = 50_000;
const INTERRUPTED = Symbol("interrupted");
const EXIT_CODE_INTERRUPTED = 130;
const EXIT_CODE_UNUSABLE = 2;

/** @returns the process's exit code: 0 only if every child is shown as what it was. */
export async function runDemo({ keep }) {
  if (spawnSync("python3", ["--version"]).status !== 0) {
    console.error("the demo needs python3: one of its children is written in it, to show that JSON lines are enough");
    return EXIT_CODE_UNUSABLE;
  }
  const folder = await mkdtemp(join(tmpdir(), "agent-lifecycle-demo-"));
  try {
    return await watchChildren(folder, keep);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function watchChildren(folder, keep) {
  const interrupted = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]).then(() => INTERRUPTED);
  const jsonlFile = join(folder, "translator.jsonl");
  const collector = await startCollector({
    folder,
    jsonlFile,
    staleAfterMs: STALE_AFTER_MS,
    reconcileDeadlineMs: RECONCILE_DEADLINE_MS,
  });
  console.log(`board      ${collector.api}`);
  console.log(`OTLP/HTTP  ${collector.ingest}/v1/logs\n`);
  const table = collector.watch();
  const processes = startChildren(collector, jsonlFile);
  let failures = 0;
  try {
    const happened = await Promise.race([untilEnded(processes), interrupted]);
    if (happened === INTERRUPTED) return EXIT_CODE_INTERRUPTED;
    const checked = await Promise.race([checkOutcomes(collector, happened, DEADLINE_MS), interrupted]);
    if (checked === INTERRUPTED) return EXIT_CODE_INTERRUPTED;
    await table.stop();
    printOutcomes(checked.children, happened, checked.problems);
    failures = checked.problems.length;
    if (keep) {
      console.log(`\nleft running: ${collector.api}  (Ctrl-C ends it)`);
      await interrupted;
    }
  } finally {
    for (const child of Object.values(processes)) child.kill("SIGKILL");
    await table.stop();
    await collector.stop();
  }
  const verified = await collector.verify();
  return failures === 0 && verified ? 0 : 1;
}

function startChildren({ ingest }, jsonlFile) {
  const environment = {
    ...process.env,
    OTEL_EXPORTER_OTLP_ENDPOINT: ingest,
    DEMO_HEARTBEAT_INTERVAL_MS: String(HEARTBEAT_INTERVAL_MS),
    OTEL_BLRP_SCHEDULE_DELAY: "100",
  };
  const start = (file) =>
    spawn(process.execPath, [join(here, "children", file)], { env: environment, stdio: ["pipe", "pipe", "inherit"] });
  return {
    researcher: start("researcher.js"),
    coder: start("coder.js"),
    deployer: start("deployer.js"),
    reviewer: start("reviewer.js"),
    planner: start("planner.js"),
    indexer: start("indexer.js"),
    translator: spawn("python3", [join(here, "children", "translator.py"), jsonlFile], {
      stdio: ["pipe", "pipe", "inherit"],
    }),
  };
}

/** Does to them what the demo is about, and notes how each process really ended. */
async function untilEnded(processes) {
  const endings = Object.entries(processes).map(async ([name, child]) => [name, await endOf(child)]);
  await Promise.all([
    said(processes.deployer, "deploying").then(() => processes.deployer.kill("SIGTERM")),
    said(processes.indexer, "indexing").then(async () => {
      await delay(2 * HEARTBEAT_INTERVAL_MS);
      processes.indexer.kill("SIGKILL");
    }),
    said(processes.reviewer, "may I merge?").then(async () => {
      await delay(1_500);
      processes.reviewer.stdin.end("yes\n");
    }),
  ]);
  return new Map(await Promise.all(endings));
}

async function endOf(child) {
  child.stdout.resume();
  const [exitCode, signal] = await once(child, "exit");
  return { exitCode, signal };
}

/** Resolves when the child has printed the text, or ended without it. */
async function said(child, text) {
  child.stdout.setEncoding("utf8");
  const ended = once(child, "exit").then(() => []);
  for (let output = ""; !output.includes(text); ) {
    const [chunk] = await Promise.race([once(child.stdout, "data"), ended]);
    if (chunk === undefined) return;
    output += chunk;
  }
}

function printOutcomes(children, happened, problems) {
  console.log("\nwhat happened              what the collector says, and how it knows");
  for (const child of children) {
    const ending = happened.get(child.childId);
    const truth = ending === undefined ? "in another process" : (ending.signal ?? `exit code ${ending.exitCode}`);
    console.log(`${child.childId.padEnd(12)} ${truth.padEnd(18)} → ${child.state} (${child.terminalEvidence})`);
  }
  for (const problem of problems) console.log(`WRONG: ${problem}`);
  console.log(problems.length === 0 ? `\n${children.length} children, all as they were.` : "");
}
