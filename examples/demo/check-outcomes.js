import { setTimeout as delay } from "node:timers/promises";

const SOURCE = "demo";

/** What each child must be shown as, given how its process ended. */
const EXPECTED = {
  researcher: { state: "completed", terminalEvidence: "event", process: { exitCode: 0, signal: null } },
  coder: { state: "failed", terminalEvidence: "event", process: { exitCode: 3, signal: null } },
  deployer: { state: "cancelled", terminalEvidence: "event", process: { exitCode: 0, signal: null } },
  reviewer: { state: "completed", terminalEvidence: "event", process: { exitCode: 0, signal: null } },
  planner: { state: "completed", terminalEvidence: "event", process: { exitCode: 0, signal: null } },
  estimator: { state: "completed", terminalEvidence: "event", parentChildId: "planner" },
  indexer: { state: "lost", terminalEvidence: "failed_reconciliation", process: { exitCode: null, signal: "SIGKILL" } },
  translator: { state: "completed", terminalEvidence: "event", process: { exitCode: 0, signal: null } },
};

/** Waits until every child has ended, then compares the collector's word with what happened. */
export async function checkOutcomes(collector, happened, deadlineMs) {
  const children = await untilAllEnded(collector, deadlineMs);
  const problems = [];
  for (const [childId, expected] of Object.entries(EXPECTED)) {
    const child = children.find((candidate) => candidate.childId === childId);
    if (child === undefined) problems.push(`${childId} is not shown`);
    else problems.push(...compare(child, expected, happened.get(childId)));
  }
  problems.push(...(await historyProblems(collector)));
  const { started, live, byState } = await collector.get("/api/v1/summary");
  const sum = live + byState.completed + byState.failed + byState.cancelled + byState.lost;
  if (started !== sum) problems.push(`the counts do not add up: ${started} started, ${sum} in states`);
  return { children, problems };
}

async function untilAllEnded(collector, deadlineMs) {
  const giveUpAt = Date.now() + deadlineMs;
  for (;;) {
    const { children } = await collector.get("/api/v1/children?limit=100");
    const ended = children.filter((child) => child.terminalEvidence !== null);
    if (ended.length === Object.keys(EXPECTED).length || Date.now() > giveUpAt) return children.toReversed();
    await delay(200);
  }
}

function compare(child, expected, ending) {
  const problems = [];
  for (const member of ["state", "terminalEvidence"]) {
    if (child[member] !== expected[member]) {
      problems.push(`${child.childId}: ${member} is ${child[member]}, not ${expected[member]}`);
    }
  }
  if (expected.parentChildId !== undefined && child.lineage.parentChildId !== expected.parentChildId) {
    problems.push(`${child.childId}: its parent is ${child.lineage.parentChildId}, not ${expected.parentChildId}`);
  }
  for (const member of ["exitCode", "signal"]) {
    const truth = expected.process?.[member];
    if (expected.process !== undefined && ending?.[member] !== truth) {
      problems.push(`${child.childId}: the process ended with ${member} ${ending?.[member]}, not ${truth}`);
    }
  }
  if (child.provisional) problems.push(`${child.childId}: is provisional, though nothing was lost`);
  return problems;
}

/** Two children have a past that matters: one waited on a person, one was stale before it was lost. */
async function historyProblems(collector) {
  const problems = [];
  const reviewer = await collector.get(`/api/v1/children/${SOURCE}/reviewer/events?limit=100`);
  const waited = reviewer.inputs.some(
    ({ event }) => event?.state === "waiting" && event.details?.waitingOn?.kind === "user",
  );
  if (!waited) problems.push("reviewer: never waited on a user");
  const indexer = await collector.get(`/api/v1/children/${SOURCE}/indexer/events?limit=100`);
  const verdicts = indexer.inputs
    .filter(({ type }) => type === "stale" || type === "reconciliation")
    .map(({ type }) => type);
  if (verdicts.join() !== "stale,reconciliation") problems.push(`indexer: was not stale before lost (${verdicts})`);
  return problems;
}
