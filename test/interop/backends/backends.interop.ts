import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { closedPort } from "../../kit/closed-port.ts";
import { temporaryDirectory } from "../../kit/event-file.ts";
import { memoryOf } from "../../kit/process-memory.ts";
import { oneChild, panelsOf } from "./displays.ts";
import { lossyRelay } from "./lossy-relay.ts";
import { OurCollector, relay, send } from "./pipeline.ts";
import {
  built,
  builtOrInstalled,
  builtOrLeft,
  type Found,
  JAEGER,
  OTEL_COLLECTOR,
  PROMETHEUS,
  VICTORIA_LOGS,
} from "./programs.ts";
import { type Server, until } from "./server.ts";
import { type Backend, jaeger, prometheus, victoriaLogs } from "./stores.ts";
import { p99, textTable } from "./table.ts";
import { probe, waveOfLives, waveOfWaiting } from "./workload.ts";

const LIVES = Number(process.env["INTEROP_CHILDREN"] ?? 300);
const WAITING = 7;
const PROBES = Number(process.env["INTEROP_PROBES"] ?? 30);
/**
 * Ten minutes of an outage are about ten waits of the longest, which is a minute by default. Here it is half a second, and
 * an outage goes on for twenty.
 */
const RETRIES_OF_AN_OUTAGE = 20;
/** While it goes on, so often as many children again are sent: what waits grows, and memory must not. */
const STAGES_OF_AN_OUTAGE = Number(process.env["INTEROP_STAGES"] ?? 20);
/** What the heap of a process breathes by itself, in the second half of an outage. */
const FLAT_WITHIN_MIB = 64;
const LOST_ANSWERS = 3;
/** Before the outage, in it, after the kill in it, and after it. */
const WAVES_OF_LIVES = 3 + STAGES_OF_AN_OUTAGE;
const STAGE_RETRIES = 2;
const MEBIBYTE = 1024 * 1024;

interface Row {
  readonly name: string;
  readonly id: string;
  readonly backend: Backend;
  readonly server: Server;
  readonly expected: () => number;
  readonly lags: number[];
  /** What it has beyond what is the same again: counters have none. */
  lost: number;
  duplicates: number;
  memory: string;
}

const reports: string[] = [];
/** How far it is: a run takes minutes. */
const step = (text: string): void => void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
afterAll(() => console.log(`\n${reports.join("\n\n")}\n`));

let collectors: Found;
let logs: Found;
let spans: Found;
let metrics: Found;
beforeAll(async () => {
  step("programs");
  collectors = await built(OTEL_COLLECTOR, "go.opentelemetry.io/collector/otelcol");
  logs = await built(VICTORIA_LOGS, "github.com/VictoriaMetrics/VictoriaLogs");
  spans = await builtOrLeft(JAEGER, "github.com/jaegertracing/jaeger");
  metrics = await builtOrInstalled(PROMETHEUS, "github.com/prometheus/prometheus");
});

test("real back ends have everything, once, also after an outage of them all in which ours was killed", async ({
  skip,
}) => {
  const notRun = Object.entries({
    "OpenTelemetry Collector": collectors,
    VictoriaLogs: logs,
    Jaeger: spans,
    Prometheus: metrics,
  })
    .flatMap(([name, found]) => (found.isThere ? [] : [`${name}: not run: ${found.reason}`]))
    .concat([
      "Loki, Tempo, Grafana: not run: they come under the AGPL, which nothing here is built from, and there are no containers",
    ]);
  reports.push(notRun.join("\n"));
  // What was not run has not passed.
  if (!collectors.isThere || !logs.isThere) return skip(notRun.join("; "));

  const folder = temporaryDirectory();
  const ours = new OurCollector(folder, { apiPort: await closedPort(), ingestPort: await closedPort() });
  const store = await victoriaLogs(logs, folder);
  const lossy = await lossyRelay(store.insertUrl);
  onTestFinished(lossy.close);
  const behind = await relay(collectors.path, folder, "behind", { logs_endpoint: store.insertUrl });
  const front = await relay(collectors.path, folder, "front", { endpoint: `http://127.0.0.1:${ours.ingestPort}` });
  const tracing = spans.isThere ? await jaeger(spans, folder) : undefined;
  const series = metrics.isThere ? await prometheus(metrics, folder, ours.apiPort) : undefined;

  const sent = { children: 0, records: 0, spans: 0 };
  const row = (name: string, id: string, backend: Backend, expected: () => number, server = backend.server): Row => ({
    name,
    id,
    backend,
    server,
    expected,
    lags: [],
    lost: 0,
    duplicates: 0,
    memory: "",
  });
  const through: Backend = {
    ...store,
    server: behind.server,
    exporter: {
      endpoint: behind.grpcTarget,
      signals: ["logs"],
      resource_attributes: { "service.name": "through-collector" },
      initial_backoff: "20ms",
      max_backoff: "500ms",
    },
    held: () => store.heldOf("through-collector"),
    has: async (childId) =>
      (await store.query(`_time:1d service.name:="through-collector" agent_lifecycle.child_id:="${childId}"`)).length >
      1,
  };
  const rows: Row[] = [
    row(
      `VictoriaLogs ${version(logs)}, logs by HTTP`,
      "otlp_http/victoria-logs",
      { ...store, exporter: { ...store.exporter, logs_endpoint: lossy.url } },
      () => sent.records,
    ),
    row(
      `OpenTelemetry Collector ${version(collectors)}, logs by gRPC`,
      "otlp_grpc/collector",
      through,
      () => sent.records,
    ),
  ];
  if (tracing !== undefined) {
    rows.push(row(`Jaeger ${version(spans)}, traces by gRPC`, "otlp_grpc/jaeger", tracing, () => sent.spans));
  }
  if (series?.takesOtlp === true) {
    rows.push(
      row(`Prometheus ${version(metrics)}, metrics by HTTP`, "otlp_http/prometheus", series, () => sent.children),
    );
  }
  ours.configure(Object.fromEntries(rows.map(({ id, backend }) => [id, backend.exporter])));

  const deliver = async (wave: ReturnType<typeof probe>): Promise<void> => {
    await send(front.logsUrl, wave);
    for (const key of ["children", "records", "spans"] as const) sent[key] += wave.expected[key];
  };
  const arrived = async ({ backend, expected }: Row): Promise<boolean> => (await backend.held()).distinct >= expected();
  const servers = [store.server, behind.server, tracing?.server, series?.server].filter(
    (server) => server !== undefined,
  );
  step("start");
  for (const server of servers) await server.start();
  step("start of ours");
  await ours.start();
  step("start of the relay in front");
  await front.server.start();

  // While all is well.
  await deliver(waveOfWaiting("waiting", WAITING, Date.now()));
  await deliver(waveOfLives("before", LIVES, Date.now()));
  step("the first wave");
  for (const one of rows) {
    await until(() => arrived(one));
    step(`${one.name} has it`);
  }
  for (let index = 0; index < PROBES; index += 1) {
    const name = `probe-${index}`;
    // Metrics are told from each other by their sums: what has come before is seen before the probe is sent.
    for (const one of rows) if (one.id.endsWith("prometheus")) await one.backend.has(name).catch(() => false);
    const startedAt = performance.now();
    await deliver(probe(name, Date.now()));
    const lags = rows.map(async ({ backend, lags: measured }) => {
      await until(() => backend.has(name));
      measured.push(performance.now() - startedAt);
    });
    await Promise.all(lags);
  }

  // They are all away; children live on, and ours is killed.
  step("outage");
  const beforeOutage = memoryOf(ours.running.pid).residentBytes;
  for (const server of servers) await server.stop();
  await deliver(waveOfLives("outage", LIVES, Date.now()));
  const retries = (): Promise<readonly number[]> =>
    Promise.all(
      rows.map(({ id }) => ours.metric(`agent_lifecycle_export_retries_total{exporter="${id}:${signalOf(id)}"}`)),
    );
  await until(async () => (await retries()).every((count) => count >= RETRIES_OF_AN_OUTAGE));
  step("kill");
  await ours.kill();
  await ours.start();
  const resident: number[] = [];
  for (let stage = 0; stage < STAGES_OF_AN_OUTAGE; stage += 1) {
    await deliver(waveOfLives(stage === 0 ? "killed" : `killed-${stage}`, LIVES, Date.now()));
    const before = await retries();
    await until(async () => (await retries()).every((count, index) => count >= (before[index] ?? 0) + STAGE_RETRIES));
    resident.push(memoryOf(ours.running.pid).residentBytes);
  }
  const settled = resident.slice(resident.length / 2);
  step("end of the outage");
  for (const server of servers) await server.start();
  for (const one of rows) if (!one.id.endsWith("prometheus")) await until(() => arrived(one));

  step("everything is there");
  const expectedSinceRestart = LIVES * STAGES_OF_AN_OUTAGE;
  for (const one of rows) {
    const isMetrics = one.id.endsWith("prometheus");
    // Sums begin at 0 with the collector's start: what Prometheus has to show is what came after it.
    const expected = isMetrics ? expectedSinceRestart : one.expected();
    if (isMetrics) await until(async () => (await one.backend.held()).distinct >= expected);
    const { total, distinct } = await one.backend.held();
    one.lost = expected - distinct;
    one.duplicates = total - distinct;
    one.memory = `${mebibytes(resident[0] ?? 0)} → ${settled.map(mebibytes).join(" → ")}`;
    expect([one.name, one.lost]).toEqual([one.name, 0]);
    reports.push(`${one.name}: ${distinct} of ${expected} delivered, ${one.duplicates} twice, ${p99(one.lags)}`);
  }
  reports.push(
    textTable(
      [
        "back end",
        "delivered",
        "twice",
        "lag p99 (probes)",
        "lost after the outage",
        "memory of ours in the outage, MiB",
      ],
      rows.map((one) => [
        one.name,
        String(one.id.endsWith("prometheus") ? expectedSinceRestart : one.expected()),
        String(one.duplicates),
        p99(one.lags),
        String(one.lost),
        one.memory,
      ]),
    ),
    `resident before the outage: ${mebibytes(beforeOutage)} MiB; ours was killed in it, with ${LIVES} children sent before and ${STAGES_OF_AN_OUTAGE} times ${LIVES} after`,
  );
  expect((Math.max(...settled) - Math.min(...settled)) / MEBIBYTE).toBeLessThan(FLAT_WITHIN_MIB);

  step("answers that are lost on their way");
  const { total, distinct } = await store.held();
  lossy.loseAnswers(LOST_ANSWERS);
  await deliver(waveOfLives("unheard", LIVES, Date.now()));
  await until(async () => lossy.lost === LOST_ANSWERS && (await store.held()).distinct >= sent.records);
  const after = await store.held();
  const isTwice = after.total - total - (after.distinct - distinct);
  expect([after.distinct, isTwice > 0]).toEqual([sent.records, true]);
  reports.push(
    `${LOST_ANSWERS} answers of VictoriaLogs were lost when it had stored what they acknowledged: all ${after.distinct - distinct} records are there, ${isTwice} of them more than once, and each under the one log.record.uid it has`,
  );

  if (series !== undefined) reports.push(...(await panelsOf(series, ours, WAITING)));
  reports.push(
    ...(await oneChild(store, tracing, { name: "killed-10", failed: Math.ceil(LIVES / 5) * WAVES_OF_LIVES })),
  );
});

function version(found: Found): string {
  return found.isThere ? found.version.replace(/^v/, "") : "";
}

function signalOf(id: string): string {
  return id.endsWith("jaeger") ? "traces" : id.endsWith("prometheus") ? "metrics" : "logs";
}

function mebibytes(bytes: number): string {
  return (bytes / MEBIBYTE).toFixed(0);
}
