import { mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type {
  Component,
  ExportBatch,
  Exporter,
  ExporterContext,
  ReceiverContext,
  SnapshotSource,
  SnapshotSourceContext,
} from "@agent-lifecycle/collector";
import { formatTimestamp } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { describeExporter, describeReceiver, describeSnapshotSource } from "../../../kit/component-suite.ts";
import { temporaryDirectory } from "../../../kit/event-file.ts";
import { makeEvent } from "../../../kit/events.ts";
import { START_MS } from "../../../kit/start-time.ts";

const EXAMPLES = new URL("../../../../examples/plugin/", import.meta.url);

interface SpoolModule {
  readonly createReceiver: (context: ReceiverContext, options: object) => Component;
}

interface StateChangesModule {
  readonly createExporter: (context: ExporterContext, options: object) => Exporter;
}

interface JobFolderModule {
  readonly createSnapshotSource: (context: SnapshotSourceContext, options: object) => SnapshotSource;
}

const { createReceiver } = (await import(fileURLToPath(new URL("spool-receiver.js", EXAMPLES)))) as SpoolModule;
const { createExporter } = (await import(
  fileURLToPath(new URL("state-changes-exporter.js", EXAMPLES))
)) as StateChangesModule;

const { createSnapshotSource } = (await import(
  fileURLToPath(new URL("job-folder-snapshot-source.js", EXAMPLES))
)) as JobFolderModule;

function newFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "agent-lifecycle-"));
}

describeReceiver("the example receiver", {
  create: async ({ context }) => {
    const folder = await newFolder();
    let files = 0;
    return {
      component: createReceiver(context, { folder, pollIntervalMs: 1, maxFileBytes: 65_536 }),
      send: async () => {
        files += 1;
        await writeFile(
          join(folder, "aside"),
          JSON.stringify(makeEvent({ childId: "a", sequence: 0, state: "created" })),
        );
        await rename(join(folder, "aside"), join(folder, `${files}.json`));
      },
      dispose: () => rm(folder, { recursive: true }),
    };
  },
  createUnable: async ({ context }) => {
    const folder = await newFolder();
    await writeFile(join(folder, "file"), "");
    return {
      component: createReceiver(context, { folder: join(folder, "file"), pollIntervalMs: 1, maxFileBytes: 65_536 }),
      dispose: () => rm(folder, { recursive: true }),
    };
  },
});

const STATES = ["created", "starting", "running"] as const;

const INPUTS: ExportBatch["inputs"] = STATES.map((state, sequence) => ({
  inputId: sequence + 1,
  input: {
    type: "event",
    event: makeEvent({ childId: "a", state, sequence }),
    receivedAt: 0,
    backfill: false,
    identity: "new",
  },
  status: "applied",
  diagnostic: undefined,
  audit: [],
}));

async function linesOf(path: string): Promise<readonly { readonly inputId: number }[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { readonly inputId: number });
}

describeExporter("the example exporter", {
  inputs: INPUTS,
  create: async (context) => {
    const folder = await newFolder();
    const path = join(folder, "changes.jsonl");
    return {
      component: createExporter(context, { path }),
      delivered: async () => (await linesOf(path)).map(({ inputId }) => inputId),
      dispose: () => rm(folder, { recursive: true }),
    };
  },
  createUnable: async (context) => {
    const folder = await newFolder();
    return { component: createExporter(context, { path: folder }), dispose: () => rm(folder, { recursive: true }) };
  },
});

describeSnapshotSource("the example snapshot source", {
  create: async (context) => {
    const folder = await newFolder();
    await writeFile(join(folder, "epoch"), "run 1\n");
    return {
      component: createSnapshotSource(context, { folder }),
      setChildren: async (childIds) => {
        for (const name of await readdir(folder)) if (name.endsWith(".job")) await rm(join(folder, name));
        for (const childId of childIds) await writeFile(join(folder, `${childId}.job`), "running\n");
      },
      breakDown: () => rm(join(folder, "epoch")),
      dispose: () => rm(folder, { recursive: true }),
    };
  },
  createUnable: async (context) => ({ component: createSnapshotSource(context, { folder: "/does/not/exist" }) }),
});

describe("the example exporter", () => {
  const context = { folder: "/" } as ExporterContext;
  const never = new AbortController().signal;

  async function withExporter(path: string, work: (exporter: Exporter) => Promise<void>): Promise<void> {
    const exporter = createExporter(context, { path });
    await exporter.start();
    await work(exporter);
    await exporter.shutdown();
  }

  test("writes no line twice after a crash between the file and the cursor", async () => {
    const path = join(temporaryDirectory(), "changes.jsonl");
    const [first] = INPUTS;
    if (first === undefined) throw new Error("no inputs");
    await withExporter(path, async (exporter) => {
      await exporter.export({ inputs: [first], missedInputs: 0 }, never);
    });
    await withExporter(path, async (exporter) => {
      await exporter.export({ inputs: INPUTS, missedInputs: 0 }, never);
    });
    expect((await linesOf(path)).map(({ inputId }) => inputId)).toEqual([1, 2, 3]);
  });

  test("cuts off a line that a crash left unfinished", async () => {
    const path = join(temporaryDirectory(), "changes.jsonl");
    await writeFile(path, '{"inputId":1}\n{"inputId":2,"at":"20');
    await withExporter(path, async (exporter) => {
      await exporter.export({ inputs: INPUTS, missedInputs: 0 }, never);
    });
    expect((await linesOf(path)).map(({ inputId }) => inputId)).toEqual([1, 2, 3]);
  });

  test("tells what the collector concluded by itself, and leaves out what changed no state", async () => {
    const path = join(temporaryDirectory(), "changes.jsonl");
    const lost: ExportBatch["inputs"][number] = {
      inputId: 5,
      input: { type: "reconciliation", source: "runner", childId: "a", outcome: "failed", at: START_MS },
      status: "applied",
      diagnostic: undefined,
      audit: [
        { reason: "failed_reconciliation", source: "runner", childId: "a", from: "running", to: "lost", at: START_MS },
      ],
    };
    const refused = INPUTS.map((input) => ({ ...input, status: "terminal_immutable" as const }));
    await withExporter(path, async (exporter) => {
      await exporter.export({ inputs: [...refused, lost], missedInputs: 0 }, never);
    });
    expect(await linesOf(path)).toEqual([
      {
        inputId: 5,
        at: formatTimestamp(START_MS),
        source: "runner",
        childId: "a",
        state: "lost",
        from: "running",
        evidence: "failed_reconciliation",
      },
    ]);
  });
});
