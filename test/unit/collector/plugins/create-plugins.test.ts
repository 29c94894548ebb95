import { type Clock, PluginError } from "@agent-lifecycle/collector";
import {
  type CreatedPlugins,
  createPlugins,
  createUpdateFeed,
  loadPlugins,
  type PluginKind,
  type StoredInput,
} from "@agent-lifecycle/collector/parts";
import { describe, expect, test } from "vitest";
import { makeEvent } from "../../../kit/events.ts";
import { ManualTimers } from "../../../kit/manual-timers.ts";
import { ScriptedIntake } from "../scripted-intake.ts";
import { moduleFolder, specification } from "./module-folder.ts";

const CLOCK: Clock = { wallNow: () => 0, monotonicNow: () => 0 };

const INPUTS: readonly StoredInput[] = [
  { inputId: 1, input: { type: "resumed", at: 0 }, status: "applied", diagnostic: undefined },
];

interface Bench {
  readonly intake: ScriptedIntake;
  readonly timers: ManualTimers;
  readonly logged: string[];
  create(): Promise<CreatedPlugins>;
}

/** Whatever a module does, on parts in a test's hands. */
async function bench(text: string, kind: PluginKind = "receiver"): Promise<Bench> {
  const folder = moduleFolder({ "mine.mjs": `export const componentApiVersion = 1;\n${text}` });
  const { plugins, problems } = await loadPlugins(
    [specification({ kind, ...(kind === "snapshot_source" && { source: "jobs" }) })],
    { folder },
  );
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  const intake = new ScriptedIntake();
  const timers = new ManualTimers();
  const logged: string[] = [];
  const note = (members: object, message: string): void => void logged.push(`${JSON.stringify(members)} ${message}`);
  const create = (): Promise<CreatedPlugins> =>
    createPlugins(plugins, {
      intake,
      child: () => undefined,
      exportLog: {
        inputs: (after) => INPUTS.filter(({ inputId }) => inputId > after),
        audit: () => [],
        lastInputId: () => 1,
      },
      updates: createUpdateFeed(() => {}),
      cursors: { load: async () => 0, save: async () => {} },
      clock: CLOCK,
      log: { info: note, error: note },
      folder,
      schedule: timers.schedule,
      startTimeoutMs: 1_000,
      shutdownTimeoutMs: 2_000,
    });
  return { intake, timers, logged, create };
}

/** The one receiver that a module's text makes. */
async function receiverOf(text: string): Promise<Bench & { readonly receiver: CreatedPlugins["receivers"][number] }> {
  const made = await bench(text);
  const [receiver] = (await made.create()).receivers;
  if (receiver === undefined) throw new Error("no receiver was made");
  return { ...made, receiver };
}

const HANGS = "new Promise(() => {})";

describe("a factory", () => {
  test.each([
    ["throws", '() => { throw new Error("no such device"); }', "module/mine could not be made: no such device"],
    ["rejects", 'async () => { throw new Error("no such device"); }', "module/mine could not be made: no such device"],
    ["makes nothing", "() => {}", "what createReceiver of module/mine made has no start, no shutdown"],
    ["makes half a component", "() => ({ start() {} })", "what createReceiver of module/mine made has no shutdown"],
  ])("that %s is told with its name", async (_what, factory, message) => {
    const { create } = await bench(`export const createReceiver = ${factory};`);
    await expect(create()).rejects.toThrow(PluginError);
    await expect(create()).rejects.toThrow(message);
  });

  test("that never ends is given up after its time", async () => {
    const { create, timers } = await bench(`export const createReceiver = () => ${HANGS};`);
    const creating = create();
    timers.letPass(1_000);
    await expect(creating).rejects.toThrow("module/mine was not made within 1000 ms");
  });

  test("of a snapshot source has to say for which source", async () => {
    const text = "export const createSnapshotSource = () => ({ start() {}, shutdown() {}, fetch() {} });";
    const { create } = await bench(text, "snapshot_source");
    await expect(create()).rejects.toThrow("does not say which source it answers for");
  });

  const authority = (members: string): string => `export const createSnapshotSource = ({ source }) => ({
    source, async start() {}, async shutdown() {}, async fetch() {}, ${members}
  });`;

  test.each([
    ["", undefined],
    ['supportLevel: "supported"', "supported"],
  ])("that is an authority states how far it can be relied on, or nothing: { %s }", async (members, level) => {
    const { create } = await bench(authority(members), "snapshot_source");
    expect((await create()).snapshotSources.map(({ supportLevel }) => supportLevel)).toEqual([level]);
  });

  test("that states a level of support which there is none of is not made", async () => {
    const { create } = await bench(authority('supportLevel: "perfect"'), "snapshot_source");
    await expect(create()).rejects.toThrow("it is one of adapter foundation, experimental, supported");
  });
});

describe("a start", () => {
  test.each([
    ["throws", 'throw new Error("address in use")'],
    ["rejects", 'return Promise.reject(new Error("address in use"))'],
  ])("that %s is told with the name of its component", async (_what, statement) => {
    const { receiver } = await receiverOf(
      `export const createReceiver = () => ({ start() { ${statement} }, async shutdown() {} });`,
    );
    await expect(receiver.start()).rejects.toThrow("module/mine could not start: address in use");
  });

  test("that never ends rejects after its time, and can be shut down", async () => {
    const { receiver, timers } = await receiverOf(
      `export const createReceiver = () => ({ start: () => ${HANGS}, async shutdown() {} });`,
    );
    const starting = receiver.start();
    timers.letPass(1_000);
    await expect(starting).rejects.toThrow("module/mine did not start within 1000 ms");
    await receiver.shutdown();
  });
});

describe("a shutdown", () => {
  test.each([
    ["throws", 'shutdown() { throw new Error("busy"); }'],
    ["rejects", 'async shutdown() { throw new Error("busy"); }'],
  ])("that %s is logged and over", async (_what, method) => {
    const { receiver, logged } = await receiverOf(
      `export const createReceiver = () => ({ async start() {}, ${method} });`,
    );
    await receiver.start();
    await receiver.shutdown();
    expect(logged).toEqual(['{"component":"module/mine","reason":"busy"} failed to shut down']);
  });

  test("that never ends is over after its time", async () => {
    const { receiver, logged, timers } = await receiverOf(
      `export const createReceiver = () => ({ async start() {}, shutdown: () => ${HANGS} });`,
    );
    await receiver.start();
    const stopping = receiver.shutdown();
    timers.letPass(2_000);
    await stopping;
    expect(logged).toEqual([expect.stringContaining("did not shut down in time")]);
  });

  test("reaches the component once, however often it is called", async () => {
    const { receiver, logged } = await receiverOf(
      `export const createReceiver = ({ log }) => ({ async start() {}, async shutdown() { log.info({}, "down"); } });`,
    );
    await Promise.all([receiver.shutdown(), receiver.shutdown()]);
    await receiver.shutdown();
    expect(logged).toEqual(['{"component":"module/mine"} down']);
  });
});

describe("the shutdown of an exporter", () => {
  const exporter = (method: string, shutdown = "") => `export const createExporter = ({ log }) => ({
    async start() {},
    async shutdown() { ${shutdown} },
    ${method},
  });`;

  async function exporterOf(text: string): Promise<Bench & { readonly loop: CreatedPlugins["exporters"][number] }> {
    const made = await bench(text, "exporter");
    const [loop] = (await made.create()).exporters;
    if (loop === undefined) throw new Error("no exporter was made");
    await loop.start();
    await expect.poll(() => made.logged).toContain('{"component":"module/mine"} exporting');
    return { ...made, loop };
  }

  test("fires the signal of the batch on its way in good time, and then shuts it down", async () => {
    const method = `export(_batch, signal) {
      log.info({}, "exporting");
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve({ kind: "retry", reason: "cut" })));
    }`;
    const { loop, timers, logged } = await exporterOf(exporter(method, 'log.info({}, "down");'));
    const stopping = loop.shutdown();
    timers.letPass(500);
    await stopping;
    expect(logged).toEqual(['{"component":"module/mine"} exporting', '{"component":"module/mine"} down']);
  });

  test("is over in its time, whatever the batch on its way does", async () => {
    const { loop, timers, logged } = await exporterOf(
      exporter(`export() { log.info({}, "exporting"); return ${HANGS}; }`),
    );
    const stopping = loop.shutdown();
    timers.letPass(2_000);
    await stopping;
    expect(logged.at(-1)).toContain("did not shut down in time");
  });
});

/** A receiver that does at its start and at its shutdown what a test says, and logs what came of it. */
function acting(onStart: string, onShutdown = ""): string {
  return `export const createReceiver = ({ intake, log }) => {
    const act = async (call) => {
      try {
        const answer = await call();
        log.info({ answer: answer?.kind }, "answered");
      } catch (error) {
        log.info({}, error.name + ": " + error.message);
      }
    };
    return {
      start: () => act(() => ${onStart}),
      shutdown: async () => { setImmediate(() => act(() => ${onShutdown === "" ? "{}" : onShutdown})); },
    };
  };`;
}

describe("the intake of a receiver", () => {
  const event = JSON.stringify(makeEvent({ childId: "a", state: "created", sequence: 0 }));
  const delivery = "{ backfill: true, bytes: 100 }";

  test("puts the receiver's own name on what it hands over", async () => {
    const { receiver, intake } = await receiverOf(
      acting(`intake.acceptEvents([${event}], { ...${delivery}, receiver: "otlp_http", extra: 1 })`),
    );
    await receiver.start();
    expect(intake.received.map(({ origin }) => origin)).toEqual([
      { receiver: "module/mine", backfill: true, bytes: 100 },
    ]);
  });

  test.each([
    ["no candidates", `intake.acceptEvents(${event}, ${delivery})`, "candidates must be an array"],
    ["no delivery", "intake.acceptEvents([])", "TypeError"],
    ["bytes that are no number", "intake.acceptEvents([], { backfill: true, bytes: NaN })", "not NaN"],
    ["fewer bytes than none", "intake.acceptSnapshot({}, { backfill: true, bytes: -1 })", "not -1"],
    ["backfill that is no answer", 'intake.acceptEvents([], { backfill: "no", bytes: 0 })', "true or false"],
    ["sources as a list", `intake.acceptEvents([], { ...${delivery}, allowedSources: ["a"] })`, "must be a Set"],
    ["half a record", "intake.countForeign(0.5)", "not 0.5"],
    ["an unknown diagnostic", 'intake.reportProblem({ code: "odd" })', "there is no diagnostic odd"],
  ])("refuses %s as a mistake of its author", async (_what, call, part) => {
    const { receiver, intake, logged } = await receiverOf(acting(call));
    await receiver.start();
    expect(logged).toEqual([expect.stringContaining(part)]);
    expect(intake.received).toEqual([]);
  });

  test("redacts and cuts what is reported", async () => {
    const text = `password=hunter2hunter2 ${"x".repeat(10_000)}`;
    const { receiver, intake } = await receiverOf(
      acting(`intake.reportProblem({ code: "malformed", text: ${JSON.stringify(text)} })`),
    );
    await receiver.start();
    const [problem] = intake.problems;
    expect(problem?.text).toContain("[redacted]");
    expect(JSON.stringify(intake.problems)).not.toContain("hunter2");
    expect(problem?.text?.length).toBeLessThanOrEqual(256);
  });

  test("takes nothing after the shutdown", async () => {
    const call = `(intake.countForeign(1), intake.reportProblem({ code: "malformed" }), intake.acceptEvents([${event}], ${delivery}))`;
    const { receiver, intake, logged } = await receiverOf(acting("{}", call));
    await receiver.start();
    await receiver.shutdown();
    await expect.poll(() => logged).toContain('{"answer":"unavailable","component":"module/mine"} answered');
    expect([intake.received, intake.problems, intake.foreign.size]).toEqual([[], [], 0]);
  });
});
