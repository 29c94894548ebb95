import type { Collector } from "@agent-lifecycle/collector";
import { type LifecycleEvent, parseTimestamp, type State } from "@agent-lifecycle/proto";
import { type EventMembers, makeEvent, makeSnapshot } from "../kit/events.ts";
import { START_MS } from "../kit/start-time.ts";
import { startTestCollector, store } from "../unit/collector/collector-fixture.ts";

const MINUTE_MS = 60_000;
const origin = { receiver: "jsonl_http", backfill: false, bytes: 0 };

const PATH: Readonly<Record<State, readonly State[]>> = {
  created: ["created"],
  starting: ["created", "starting"],
  running: ["created", "starting", "running"],
  waiting: ["created", "starting", "running", "waiting"],
  completed: ["created", "starting", "running", "completed"],
  failed: ["created", "starting", "running", "failed"],
  cancelled: ["created", "starting", "running", "cancelled"],
  lost: ["created", "starting", "running", "lost"],
};

/** A child on the usual way to a state, one step a minute; what is said of it is said with the last step. */
export function childIn(
  childId: string,
  state: State,
  said: EventMembers = {},
  fromMinute = 0,
): readonly LifecycleEvent[] {
  const { lineage, capabilities, source, ...last } = said;
  const always = {
    childId,
    ...(lineage === undefined ? {} : { lineage }),
    ...(capabilities === undefined ? {} : { capabilities }),
    ...(source === undefined ? {} : { source }),
  };
  const path = PATH[state];
  return path.map((step, index) => {
    const members = index === path.length - 1 ? { ...always, ...last } : always;
    return makeEvent({ ...members, state: step, sequence: index, at: (fromMinute + index) * MINUTE_MS });
  });
}

function below(parentChildId: string, attempt = 0): Pick<EventMembers, "lineage"> {
  return { lineage: { rootChildId: "release", parentChildId, attempt } };
}

/** Told of a release: who asks for something, who works, who is over, and about whom something is not known. */
function releaseScene(): readonly LifecycleEvent[] {
  const events: LifecycleEvent[] = [
    ...childIn("release", "waiting", {
      activity: "Planning the release",
      details: {
        name: "Release planner",
        agentType: "planner",
        model: "large",
        waitingOn: { kind: "permission", text: "May I push the tag v2.4.0?" },
        usage: { inputTokens: 48_210, outputTokens: 9_120, costUsd: 0.41, toolCalls: 37 },
        transcriptRef: "file:transcripts/release.jsonl",
      },
      capabilities: { heartbeat: "known", cancel: "known" },
    }),
    ...childIn("review-1", "failed", {
      ...below("release", 0),
      details: { name: "Reviewer", cause: "timeout", exitCode: 124, usage: { inputTokens: 9_000, outputTokens: 100 } },
    }),
    ...childIn(
      "review-2",
      "running",
      {
        ...below("release", 1),
        activity: "Reading collector/src/runtime",
        details: { name: "Reviewer", tool: "Read", usage: { inputTokens: 3_300, outputTokens: 420, toolCalls: 12 } },
      },
      4,
    ),
    ...childIn("tests", "completed", { ...below("release"), details: { name: "Test runner", exitCode: 0 } }, 1),
    ...childIn("shell", "running", { ...below("tests"), activity: "npm run bench", details: { tool: "Bash" } }, 2),
    ...childIn("docs", "cancelled", { ...below("release"), details: { name: "Writer", cause: "superseded" } }, 3),
    ...childIn("crawl", "running", { activity: "Crawling the archive", details: { name: "Crawler" } }, 1),
    ...childIn("fetch", "starting", { source: "runner-b", activity: "Cloning", details: { name: "Fetcher" } }, 8),
    ...childIn(
      "ask",
      "running",
      {
        source: "runner-b",
        details: { name: "Migrator", cancelRequestedAt: "2026-09-01T09:09:30.000Z" },
        capabilities: { cancel: "known" },
      },
      7,
    ),
    makeEvent({
      childId: "adopted",
      source: "runner-b",
      state: "running",
      activity: "Indexing",
      at: 6 * MINUTE_MS,
      lineage: { external: true, adoptedAt: "2026-09-01T09:06:00.000Z" },
    }),
    makeEvent({ childId: "gap", state: "created", sequence: 0, at: 5 * MINUTE_MS }),
    makeEvent({ childId: "gap", kind: "activity", activity: "Compiling", sequence: 5, at: 7 * MINUTE_MS }),
    makeEvent({ childId: "tests", state: "running", sequence: 9, at: 6 * MINUTE_MS, ...below("release") }),
  ];
  for (const [step, minute] of [5, 6, 7, 8, 9].entries()) {
    const activity = `Reading file ${step + 1} of 5`;
    events.push(
      makeEvent({
        childId: "review-2",
        kind: "activity",
        activity,
        sequence: 3 + step,
        at: (minute + 2) * MINUTE_MS,
        ...below("release", 1),
      }),
    );
  }
  return events;
}

/** A clock that stands where it is set, in minutes after the start. */
export interface SceneClock {
  wallNow(): number;
  monotonicNow(): number;
  set(minutes: number): void;
}

export function sceneClock(): SceneClock {
  let at = 0;
  return {
    wallNow: () => START_MS + at,
    monotonicNow: () => at,
    set: (minutes) => {
      at = minutes * MINUTE_MS;
    },
  };
}

/** A collector that has heard of children of every kind for a quarter of an hour, each at the time it was seen. */
export async function startScene(): Promise<{ readonly collector: Collector; readonly clock: SceneClock }> {
  const clock = sceneClock();
  const collector = await startTestCollector({}, { clock });
  const events = releaseScene();
  for (let minute = 0; minute <= 12; minute += 1) {
    clock.set(minute);
    const seen = events.filter(({ observedAt }) => parseTimestamp(observedAt) === clock.wallNow());
    if (seen.length > 0) await store(collector, seen);
  }
  const snapshot = (
    minute: number,
    coverage: readonly string[],
    children: Parameters<typeof makeSnapshot>[0]["children"],
  ) => {
    clock.set(minute);
    return collector.intake.acceptSnapshot(
      makeSnapshot({ at: minute * MINUTE_MS, coverage, children: children ?? [] }),
      origin,
    );
  };
  await snapshot(10, ["shell"], [{ childId: "shell", state: "waiting" }]);
  // Two complete views in a row do not list it: stale, and asked about (A6).
  await snapshot(11, ["crawl"], []);
  await snapshot(12, ["crawl"], []);
  await collector.intake.acceptEvents(
    [{ schemaVersion: 1, source: "runner", kind: "asleep" }, { schemaVersion: 7 }],
    origin,
  );
  await store(collector, [makeEvent({ childId: "unheard", kind: "heartbeat", sequence: 1, at: 12 * MINUTE_MS })]);
  clock.set(14);
  return { collector, clock };
}
