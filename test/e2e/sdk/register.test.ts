import { join } from "node:path";
import type { LifecycleEvent } from "@agent-lifecycle/proto";
import { describe, expect, it } from "vitest";
import { readEvents, temporaryDirectory } from "../../kit/event-file.ts";
import { type HostEnd, startHost } from "./host-process.ts";

const REGISTER = ["--import", "@agent-lifecycle/sdk/register"];

interface Observed {
  readonly plain: HostEnd;
  readonly observed: HostEnd;
  readonly events: readonly LifecycleEvent[];
}

/** The same program without and with the instrumentation. */
async function both(doing: string, environment: Readonly<Record<string, string>> = {}): Promise<Observed> {
  const directory = temporaryDirectory();
  const path = join(directory, "events.jsonl");
  const plainly = { ...environment, AGENT_LIFECYCLE_JSONL: join(directory, "plain.jsonl") };
  const plain = await startHost("spawning.mjs", [doing], plainly).end;
  const instrumented = { ...environment, AGENT_LIFECYCLE_JSONL: path, AGENT_LIFECYCLE_SOURCE: "host" };
  const observed = await startHost("spawning.mjs", [doing], instrumented, REGISTER).end;
  return { plain, observed, events: readEvents(path) };
}

function states(events: readonly LifecycleEvent[], source = "host"): readonly (string | undefined)[] {
  return events.filter((event) => event.source === source).flatMap(({ state }) => (state === undefined ? [] : [state]));
}

function expectUntouched({ plain, observed }: Observed): void {
  expect({ ...observed, elapsedMs: 0 }).toEqual({ ...plain, elapsedMs: 0 });
  expect(observed).toMatchObject({ code: 6, signal: null, stderr: "" });
}

describe("node --import @agent-lifecycle/sdk/register: a program sees what it would see without, and its children are seen", () => {
  const cases: readonly (readonly [string, readonly string[], Record<string, unknown>])[] = [
    [
      "spawn",
      ["created", "starting", "running", "failed"].filter((state) => state !== "running"),
      { exitCode: 3, cause: "exit_code" },
    ],
    ["input", ["created", "starting", "running", "completed"], { exitCode: 0 }],
    ["missing program", ["created", "failed"], { cause: "spawn_failed" }],
    ["by signal", ["created", "starting", "cancelled"], { signal: "SIGTERM" }],
    ["by another's signal", ["created", "starting", "failed"], { signal: "SIGKILL", cause: "signal" }],
    ["time-out", ["created", "starting", "cancelled"], { signal: "SIGTERM" }],
    ["exec", ["created", "starting", "failed"], { exitCode: 2 }],
    ["exec as promise", ["created", "starting", "running", "completed"], { exitCode: 0 }],
    ["execFile as promise", ["created", "starting", "failed"], { exitCode: 5 }],
    ["by the module", ["created", "starting", "running", "completed"], { exitCode: 0 }],
    ["worker", ["created", "starting", "running", "completed"], { exitCode: 0 }],
    ["worker that fails", ["created", "starting", "running", "failed"], { cause: "Error", errorMessage: "broken" }],
    ["worker that is ended", ["created", "starting", "running", "cancelled"], { exitCode: 1 }],
  ];
  for (const [doing, expected, details] of cases) {
    it(doing, async () => {
      const each = await both(doing);
      expectUntouched(each);
      // Whether a process that ends within a second was running in between depends on how slow the machine is.
      const withoutRunning = (list: readonly (string | undefined)[]): readonly (string | undefined)[] =>
        list.filter((state) => state !== "running");
      expect(withoutRunning(states(each.events))).toEqual(withoutRunning(expected));
      expect(each.events.at(-1)?.details).toMatchObject(details);
    });
  }

  it("an error that nobody listens for still ends the program", async () => {
    const { plain, observed, events } = await both("missing program, unheard");
    expect(plain).toMatchObject({ code: 1, signal: null, stdout: "" });
    expect({ ...observed, elapsedMs: 0, stderr: "" }).toEqual({ ...plain, elapsedMs: 0, stderr: "" });
    expect(observed.stderr).toContain("ENOENT");
    expect(states(events)).toEqual(["created", "failed"]);
  });

  it("says the program's name and not its arguments, unless asked to, and then without secrets", async () => {
    const { events } = await both("spawn");
    expect(events[0]?.details).toMatchObject({ name: "node", command: process.execPath });
    const recording = await both("spawn", { AGENT_LIFECYCLE_RECORD_ARGUMENTS: "true" });
    expect(String(recording.events[0]?.details?.["command"])).toContain("console.log('out')");
  });
});

describe("lineage travels by itself", () => {
  function childOf(events: readonly LifecycleEvent[], source: string): LifecycleEvent {
    const event = events.find(({ source: each, kind }) => each === source && kind === "created");
    if (event === undefined) throw new Error(`no child of ${source}`);
    return event;
  }

  for (const doing of ["reporter", "fork", "worker that reports"]) {
    it(`to a ${doing}: what is created there is delegated by the process or thread`, async () => {
      const each = await both(doing);
      expect(each.observed).toMatchObject({ code: 6, stderr: "" });
      const process = childOf(each.events, "host");
      const below = childOf(each.events, "reporter");
      expect(below.lineage).toEqual({
        rootChildId: process.childId,
        parentChildId: process.childId,
        attempt: 0,
        external: false,
      });
      expect(states(each.events)).toContain("completed");
    });
  }

  it("and from the process's own delegator on, with the trace that it was started in", async () => {
    const each = await both("worker", {
      AGENT_LIFECYCLE_PARENT_CHILD_ID: "dispatcher",
      AGENT_LIFECYCLE_ROOT_CHILD_ID: "root",
    });
    expect(childOf(each.events, "host").lineage).toMatchObject({
      rootChildId: "root",
      parentChildId: "dispatcher",
    });
  });

  it("and leaves the data of a worker as it is", async () => {
    const each = await both("worker that reports");
    expect(each.observed.stdout).toBe(each.plain.stdout);
    expect(JSON.parse(each.observed.stdout)).toMatchObject({ messages: [{ own: 1 }] });
  });
});
