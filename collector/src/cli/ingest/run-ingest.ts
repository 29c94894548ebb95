import { randomUUID } from "node:crypto";
import {
  type Adapter,
  type EventDelivery,
  emptyAdapterState,
  openEventDelivery,
  type StreamEnd,
} from "@agent-lifecycle/sdk/adapters";
import { readCheckpoint, writeCheckpoint } from "./checkpoint.ts";
import { FileInput } from "./file-input.ts";
import { Ingestion } from "./ingestion.ts";
import { createInputDecoder } from "./input-decoder.ts";
import { startObserved } from "./observed-command.ts";
import { ProblemReport } from "./problem-report.ts";

export interface IngestSettings {
  readonly adapter: Adapter;
  readonly source: string;
  readonly input:
    | { readonly kind: "stdin" }
    | {
        readonly kind: "file";
        readonly path: string;
        readonly follow: boolean;
        readonly checkpoint: string | undefined;
      }
    | { readonly kind: "command"; readonly program: string; readonly programArguments: readonly string[] };
  readonly endpoint?: string | undefined;
  readonly ingestToken?: string | undefined;
  /** A path, `stdout` or `stderr`: instead of an endpoint, or for what it does not take. */
  readonly jsonl?: string | undefined;
  /** Settles when somebody asks for an end. */
  readonly stopped: Promise<unknown>;
}

export interface IngestOutcome {
  /** Everything was understood. */
  readonly clean: boolean;
  /** Everything is where it should be. */
  readonly delivered: boolean;
  /** Of the command, when there was one. */
  readonly exitCode: number | undefined;
}

const CLOSE_TIMEOUT_MS = 10_000;
/** How often a followed file is looked at: nothing tells of an append reliably on every file system. */
const LOOK_INTERVAL_MS = 200;

/** Reads what a system said, maps it, and delivers the events. */
export async function runIngest(settings: IngestSettings): Promise<IngestOutcome> {
  const report = new ProblemReport((line) => process.stderr.write(`agent-lifecycle ingest: ${line}\n`));
  const { adapter, source, input } = settings;
  const checkpointPath = input.kind === "file" ? input.checkpoint : undefined;
  const checkpoint = checkpointPath === undefined ? undefined : readCheckpoint(checkpointPath, adapter.format);
  const state = checkpoint?.state ?? emptyAdapterState(source, randomUUID());
  const delivery = openEventDelivery({
    source: state.source,
    sourceEpoch: state.sourceEpoch,
    ...(settings.endpoint === undefined ? undefined : { endpoint: settings.endpoint }),
    ...(settings.ingestToken === undefined
      ? undefined
      : { headers: { authorization: `Bearer ${settings.ingestToken}` } }),
    ...(settings.jsonl === undefined
      ? undefined
      : {
          jsonl: settings.jsonl === "stdout" || settings.jsonl === "stderr" ? settings.jsonl : { path: settings.jsonl },
        }),
    onDiagnostic: ({ code, message }) => report.aside(`${code}: ${message}`),
  });
  const ingestion = new Ingestion({ adapter, state, delivery, onProblem: (problem) => report.add(problem) });
  ingestion.repeat(checkpoint?.pending ?? []);
  let exitCode: number | undefined;
  let arrived = true;
  if (input.kind === "file") {
    const file = new FileInput(input.path, checkpoint?.positions ?? {});
    arrived = await ingestFile(file, input, {
      adapter,
      ingestion,
      delivery,
      report,
      stopped: settings.stopped,
    });
  } else if (input.kind === "stdin") {
    await ingestStream(process.stdin, ingestion, report, settings.stopped);
    ingestion.end({ observedAtMs: Date.now() });
  } else {
    const command = startObserved(input.program, input.programArguments, settings.jsonl !== "stdout");
    await ingestStream(command.stdout, ingestion, report, new Promise(() => {}));
    const ended = await command.ended;
    ingestion.end({ observedAtMs: Date.now(), ...ended.end } satisfies StreamEnd);
    exitCode = ended.ownExitCode;
  }
  ingestion.handOver();
  const { complete } = await delivery.close({ timeoutMs: arrived ? CLOSE_TIMEOUT_MS : 1 });
  const { dropped } = delivery.counters();
  report.close(`${ingestion.inputs} inputs, ${ingestion.events} events, ${dropped} not delivered`);
  return { clean: report.isClean, delivered: arrived && complete && dropped === 0, exitCode };
}

async function ingestStream(
  stream: NodeJS.ReadableStream,
  ingestion: Ingestion,
  report: ProblemReport,
  stopped: Promise<unknown>,
): Promise<void> {
  const decoder = createInputDecoder((problem) => report.add(problem));
  const take = (values: readonly unknown[]): void => {
    for (const value of values) ingestion.take(value, Date.now());
    ingestion.handOver();
  };
  const chunks = stream[Symbol.asyncIterator]();
  const stop = stopped.then(() => ({ done: true, value: undefined }) as const);
  for (;;) {
    const next = await Promise.race([chunks.next(), stop]);
    if (next.done === true) break;
    take(decoder.push(typeof next.value === "string" ? Buffer.from(next.value) : next.value));
  }
  take(decoder.end());
}

interface FileRun {
  readonly adapter: Adapter;
  readonly ingestion: Ingestion;
  readonly delivery: EventDelivery;
  readonly report: ProblemReport;
  readonly stopped: Promise<unknown>;
}

/** @returns whether everything that was read has arrived. */
async function ingestFile(
  file: FileInput,
  { follow, checkpoint }: { readonly follow: boolean; readonly checkpoint: string | undefined },
  { adapter: { format, inOrder }, ingestion, delivery, report, stopped }: FileRun,
): Promise<boolean> {
  const decoder = createInputDecoder((problem) => report.add(problem));
  let stop = false;
  const stopping = stopped.then(() => {
    stop = true;
  });
  const keep = (): void => {
    if (checkpoint === undefined) return;
    writeCheckpoint(checkpoint, {
      format,
      positions: file.positions,
      state: ingestion.state,
      pending: ingestion.pending,
    });
  };
  /** What is made is written down before it is sent: a crash in between sends the same again, and not another thing. */
  const settle = async (): Promise<boolean> => {
    keep();
    const before = delivery.counters().dropped;
    const events = ingestion.pending;
    ingestion.handOver();
    if (checkpoint === undefined) return true;
    const { complete } = await delivery.flush({ timeoutMs: CLOSE_TIMEOUT_MS });
    if (!complete || delivery.counters().dropped > before) return false;
    if (events.length > 0) keep();
    return true;
  };
  if (!(await settle())) return false;
  for (;;) {
    for await (const { bytes } of file.read()) {
      const values = decoder.push(bytes);
      for (const value of inOrder?.(values) ?? values) ingestion.take(value, Date.now());
      if (!(await settle())) return false;
      if (stop) break;
    }
    if (!follow || stop) break;
    await file.removeRead(Date.now());
    await Promise.race([stopping, new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL_MS))]);
  }
  if (!follow) {
    for (const value of [...decoder.push(await file.rest()), ...decoder.end()]) ingestion.take(value, Date.now());
    // A file that is read on later has not ended.
    if (checkpoint === undefined) ingestion.end({ observedAtMs: Date.now() });
  }
  return await settle();
}
