import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  type AuditPage,
  type ChildView,
  formatTimestamp,
  type LifecycleSnapshot,
  type SourcesView,
} from "@agent-lifecycle/proto";
import { describe, expect, onTestFinished, test } from "vitest";
import { openChildStream } from "../kit/child-stream.ts";
import { closedPort } from "../kit/closed-port.ts";
import { type CollectorProcess, startCollector } from "../kit/collector-process.ts";
import { temporaryDirectory } from "../kit/event-file.ts";
import { makeEvent } from "../kit/events.ts";
import { type OrchestratorServer, startOrchestratorServer } from "../kit/orchestrator-server.ts";
import { runCommand } from "../kit/program.ts";
import { START_MS } from "../kit/start-time.ts";
import { submit } from "../kit/submit.ts";

const EXAMPLES = fileURLToPath(new URL("../../examples/plugin/", import.meta.url));
const SOURCE = "orchestrator";
const LIFECYCLE = { stale_after: "2500ms", reconcile_deadline: "1500ms", check_interval: "50ms" };
/** How long a collector is stopped: longer than any child may be silent and asked about. */
const SLEEP_MS = 6_000;
const ASKED = { interval: "200ms", timeout: "500ms", retry: { initial_interval: "50ms", max_interval: "200ms" } };

async function orchestrator(): Promise<OrchestratorServer> {
  const server = await startOrchestratorServer();
  onTestFinished(() => server.close().catch(() => {}));
  // Every look is a new statement, made when it is asked.
  return server;
}

/** What an orchestrator that knows these children says now. */
function snapshotOf(children: readonly { readonly childId: string; readonly state: string }[]): LifecycleSnapshot {
  const observedAt = formatTimestamp(Date.now());
  const snapshotId = `${observedAt} ${Math.random()}`;
  return {
    source: SOURCE,
    sourceEpoch: "run-1",
    snapshotId,
    observedAt,
    complete: true,
    coverage: "all",
    children,
  } as LifecycleSnapshot;
}

/** From now on it says so, anew whenever it is asked. */
function knows(server: OrchestratorServer, ...children: readonly (readonly [childId: string, state: string])[]): void {
  server.answer = (_request, response) => {
    const body = JSON.stringify(snapshotOf(children.map(([childId, state]) => ({ childId, state }))));
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  };
}

function configurationFile(members: object): string {
  const path = join(temporaryDirectory(), "collector.yaml");
  // JSON is YAML.
  writeFileSync(path, JSON.stringify({ lifecycle: LIFECYCLE, ...members }));
  return path;
}

function startWith(members: object, environment: Readonly<Record<string, string>> = {}): Promise<CollectorProcess> {
  const argv = ["--config", configurationFile(members)];
  return startCollector(join(temporaryDirectory(), "collector.db"), argv, { environment });
}

function askedBy(url: string, members: object = {}): object {
  return { snapshot_sources: { "http/one": { source: SOURCE, url, ...ASKED, ...members } } };
}

const is = (childId: string, state: string) => (child: ChildView) => child.childId === childId && child.state === state;
const isStale = (childId: string) => (child: ChildView) => child.childId === childId && child.stale !== null;

function begun(childId: string): ReturnType<typeof makeEvent> {
  const at = Date.now() - START_MS;
  return makeEvent({ source: SOURCE, sourceEpoch: "run-1", childId, state: "created", sequence: 0, at });
}

async function authorityOf(
  collector: CollectorProcess,
): Promise<NonNullable<SourcesView["sources"][number]["authority"]>> {
  const { sources } = await collector.get<SourcesView>("/api/v1/sources");
  const authority = sources.find(({ source }) => source === SOURCE)?.authority;
  if (authority === null || authority === undefined) throw new Error(`no authority in ${JSON.stringify(sources)}`);
  return authority;
}

describe("an authority that is asked over HTTP", () => {
  test("tells of children that nobody reported, corrects those that were, and tells how they ended", async () => {
    const server = await orchestrator();
    knows(server, ["unheard", "running"]);
    const collector = await startWith(askedBy(server.url));
    const stream = await openChildStream(collector.apiUrl);
    const found = await stream.until(is("unheard", "running"));
    expect(found).toMatchObject({
      history: "partial",
      stateEvidence: "authoritative_snapshot",
      terminalEvidence: null,
    });
    await submit(collector.ingestUrl, [begun("heard")]);
    const heard = await stream.until(is("heard", "created"));
    expect(heard).toMatchObject({ stateEvidence: "event" });
    knows(server, ["heard", "waiting"], ["unheard", "failed"]);
    expect(await stream.until(is("heard", "waiting"))).toMatchObject({ stateEvidence: "authoritative_snapshot" });
    expect(await stream.until(is("unheard", "failed"))).toMatchObject({ terminalEvidence: "authoritative_snapshot" });
    const { audit } = await collector.get<AuditPage>(`/api/v1/children/${SOURCE}/unheard/audit`);
    expect(audit.map(({ from, to }) => [from, to])).toEqual([
      [null, "running"],
      ["running", "failed"],
    ]);
    expect(await authorityOf(collector)).toMatchObject({
      id: "http/one",
      kind: "http",
      supportLevel: "supported",
      statement: { sourceEpoch: "run-1", complete: true, covered: null, listed: 2 },
    });
  });

  test("keeps a silent child for as long as it lists it, and loses it only after it has omitted it", async () => {
    const server = await orchestrator();
    knows(server, ["silent", "running"], ["other", "running"]);
    const collector = await startWith(askedBy(server.url));
    const stream = await openChildStream(collector.apiUrl);
    await stream.until(is("silent", "running"));
    const keptUntil = Date.now() + 6_000;
    await stream.until((child) => is("silent", "running")(child) && Date.parse(child.lastEvidenceAt) > keptUntil);
    expect(stream.seen.filter(isStale("silent"))).toEqual([]);
    knows(server, ["other", "running"]);
    expect(await stream.until(isStale("silent"))).toMatchObject({ state: "running" });
    const lost = await stream.until(is("silent", "lost"));
    expect(lost).toMatchObject({ terminalEvidence: "failed_reconciliation" });
    expect(stream.seen.filter(is("silent", "completed"))).toEqual([]);
    expect(stream.seen.filter((child) => child.childId === "other" && child.stale !== null)).toEqual([]);
  });

  test("that is gone makes its children stale, then lost, and says why it was not heard; one that is back is asked again", async () => {
    const server = await orchestrator();
    knows(server, ["worker", "running"]);
    const collector = await startWith(askedBy(server.url));
    const stream = await openChildStream(collector.apiUrl);
    await stream.until(is("worker", "running"));
    server.answer = (_request, response) => void response.destroy();
    expect(await stream.until(isStale("worker"))).toMatchObject({ state: "running", stale: { reason: "deadline" } });
    await stream.until(is("worker", "lost"));
    const failing = await authorityOf(collector);
    expect(failing.lastFailure).toBe("socket hang up");
    expect(failing.failuresInARow).toBeGreaterThan(1);
    knows(server, ["next", "running"]);
    await stream.until(is("next", "running"));
    expect(await authorityOf(collector)).toMatchObject({ failuresInARow: 0, lastFailure: null });
  });

  test("loses nobody and marks nobody for the time that the collector was stopped itself", async () => {
    const server = await orchestrator();
    knows(server, ["worker", "running"]);
    const collector = await startWith(askedBy(server.url));
    const stream = await openChildStream(collector.apiUrl);
    await stream.until(is("worker", "running"));
    collector.program.process.kill("SIGSTOP");
    await delay(SLEEP_MS);
    const wokenAt = Date.now();
    collector.program.process.kill("SIGCONT");
    await stream.until((child) => is("worker", "running")(child) && Date.parse(child.lastEvidenceAt) > wokenAt + 3_500);
    expect(stream.seen.filter(isStale("worker"))).toEqual([]);
    expect(stream.seen.filter(is("worker", "lost"))).toEqual([]);
  });

  test("is asked again when the collector was killed and has come back, and loses nobody for that", async () => {
    const server = await orchestrator();
    knows(server, ["worker", "running"]);
    const argv = ["--config", configurationFile(askedBy(server.url))];
    const database = join(temporaryDirectory(), "collector.db");
    const first = await startCollector(database, argv);
    await (await openChildStream(first.apiUrl)).until(is("worker", "running"));
    await first.endBy("SIGKILL");
    await delay(SLEEP_MS);
    const second = await startCollector(database, argv);
    const startedAt = Date.now();
    const stream = await openChildStream(second.apiUrl);
    await stream.until(
      (child) => is("worker", "running")(child) && Date.parse(child.lastEvidenceAt) > startedAt + 3_500,
    );
    expect(stream.seen.filter(isStale("worker"))).toEqual([]);
  });

  test("is shown the token that it wants, which nobody else is shown", async () => {
    const server = await orchestrator();
    const snapshot = JSON.stringify(snapshotOf([{ childId: "worker", state: "running" }]));
    server.answer = (request, response) => {
      const isKnown = request.headers.authorization === "Bearer right-token-0123456789";
      response.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" }).end(isKnown ? snapshot : "{}");
    };
    const tokenFile = join(temporaryDirectory(), "token");
    writeFileSync(tokenFile, "wrong-token-0123456789");
    const collector = await startWith(askedBy(server.url, { token_file: tokenFile }));
    await server.nextRequest();
    await server.nextRequest();
    expect(await authorityOf(collector)).toMatchObject({ lastFailure: "it refuses the credentials (401)" });
    writeFileSync(tokenFile, "right-token-0123456789");
    const stream = await openChildStream(collector.apiUrl);
    await stream.until(is("worker", "running"));
    const { stderr } = await collector.endBy("SIGTERM");
    expect(String(stderr)).not.toContain("right-token");
  });
});

describe("an authority that pushes", () => {
  const TOKENS = {
    tokens: [
      { name: "children", token: "children-0123456789", scopes: ["ingest"], sources: [SOURCE] },
      { name: "scheduler", token: "scheduler-0123456789", scopes: ["ingest"], sources: [SOURCE] },
    ],
  };
  const PUSH = {
    snapshot_sources: { "push/one": { source: SOURCE, interval: "300ms", token_name: "scheduler" } },
    access: TOKENS,
  };

  async function push(collector: CollectorProcess, token: string, snapshot: LifecycleSnapshot): Promise<number> {
    const response = await fetch(new URL("/v1/lifecycle/snapshots", collector.ingestUrl), {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify(snapshot),
    });
    return response.status;
  }

  test("is believed by its token alone, and its silence makes silent children lost", async () => {
    const collector = await startWith(PUSH);
    const stream = await openChildStream(collector.apiUrl);
    const running = [{ childId: "worker", state: "running" }];
    expect(await push(collector, "children-0123456789", snapshotOf(running))).toBe(403);
    expect(await push(collector, "nobody-0123456789", snapshotOf(running))).toBe(401);
    expect(await push(collector, "scheduler-0123456789", snapshotOf(running))).toBe(200);
    await stream.until(is("worker", "running"));
    expect(await authorityOf(collector)).toMatchObject({ id: "push/one", kind: "push", answers: 1, failures: 0 });
    const broken = { ...snapshotOf(running), children: "none" } as unknown as LifecycleSnapshot;
    // What somebody else sends in its name says nothing about it; what it sends itself does.
    expect(await push(collector, "children-0123456789", broken)).toBe(422);
    expect(await authorityOf(collector)).toMatchObject({ failures: 0, lastFailure: null });
    expect(await push(collector, "scheduler-0123456789", broken)).toBe(422);
    expect(await authorityOf(collector)).toMatchObject({
      answers: 1,
      failures: 1,
      lastFailure: expect.stringMatching(/^its answer is refused: children: /),
    });
    const lost = await stream.until(is("worker", "lost"));
    expect(lost).toMatchObject({ terminalEvidence: "failed_reconciliation" });
  });
});

describe("an authority that a module knows how to ask", () => {
  test("is asked by it, outside of the collector's own code", async () => {
    const folder = temporaryDirectory();
    const jobs = join(folder, "jobs");
    mkdirSync(jobs);
    writeFileSync(join(jobs, "epoch"), "run-1\n");
    writeFileSync(join(jobs, "nightly.job"), "running\n");
    const module = join(EXAMPLES, "job-folder-snapshot-source.js");
    const source = { source: SOURCE, module, options: { folder: jobs }, ...ASKED };
    const collector = await startWith({ snapshot_sources: { "module/jobs": source } });
    const stream = await openChildStream(collector.apiUrl);
    await stream.until(is("nightly", "running"));
    expect(await authorityOf(collector)).toMatchObject({
      id: "module/jobs",
      kind: "module",
      supportLevel: "experimental",
    });
    rmSync(join(jobs, "nightly.job"));
    await stream.until(isStale("nightly"));
    await stream.until(is("nightly", "lost"));
  });

  test("and that answers for another source than it is configured for stops the start, with its name", async () => {
    const folder = temporaryDirectory();
    const module = join(folder, "other.mjs");
    writeFileSync(
      module,
      `export const componentApiVersion = 1;
export const createSnapshotSource = () => ({ source: "other", start: async () => {}, shutdown: async () => {}, fetch: async () => ({}) });`,
    );
    const file = configurationFile({ snapshot_sources: { "module/jobs": { source: SOURCE, module, ...ASKED } } });
    const { exitCode, stderr } = await runCommand([
      "collector",
      "--config",
      file,
      "--ingest-port",
      "0",
      "--api-port",
      "0",
    ]);
    expect(exitCode).not.toBe(0);
    expect(String(stderr)).toContain(
      "what module/jobs made answers for the source other, and is configured for orchestrator",
    );
  });
});

test("config check tells what is wrong with authorities, with line and column", async () => {
  const file = join(temporaryDirectory(), "collector.yaml");
  writeFileSync(
    file,
    `snapshot_sources:
  http/one: { source: a, url: "http://one.example", token_file: /does/not/exist }
  push/two: { source: a, interval: 1m }
`,
  );
  const { exitCode, stdout } = await runCommand(["config", "check", "--config", file]);
  expect(exitCode).toBe(1);
  expect(String(stdout)).toContain(
    `${file}:2:26 snapshot_sources.http/one.url: would send a token to one.example in plain text`,
  );
  expect(String(stdout)).toContain(
    `${file}:2:53 snapshot_sources.http/one.token_file: cannot read /does/not/exist (ENOENT)`,
  );
  expect(String(stdout)).toContain(
    `${file}:3:15 snapshot_sources.push/two.source: http/one is the authority of this source already`,
  );
  expect(String(stdout)).toContain(`${file}:3:26 snapshot_sources.push/two.interval: 60000 ms fits less than twice`);
});

test("a collector whose authority is not there starts all the same", async () => {
  const collector = await startWith(askedBy(`http://127.0.0.1:${await closedPort()}/`));
  expect(await collector.get("/readyz")).toEqual({ ready: true });
});
