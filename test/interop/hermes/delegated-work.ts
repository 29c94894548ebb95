import type { HermesPackage } from "./installation.ts";
import type { ModelServer } from "./model-server.ts";
import type { Owner, OwnerFrame } from "./owner.ts";

/** A child of the work, by its goal, and how its life goes. */
export interface PlannedChild {
  readonly goal: string;
  readonly parent?: string;
  /** What is done to it, in words. */
  readonly fate: string;
  /** The gateway's word for how it ended; `undefined`: it has not ended, and runs until the gateway is gone. */
  readonly endsAs: (build: HermesPackage) => string | undefined;
}

/** The goals of all children of one prompt: two levels of them, and every way to end. */
export const PLAN: readonly PlannedChild[] = [
  { goal: "Read the paper", fate: "answers", endsAs: () => "completed" },
  { goal: "Run the tests", fate: "uses a tool, answers", endsAs: () => "completed" },
  { goal: "Plan the release", fate: "delegates, answers", endsAs: () => "completed" },
  { goal: "Write the notes", parent: "Plan the release", fate: "answers", endsAs: () => "completed" },
  {
    goal: "Ask the broken provider",
    fate: "its provider refuses",
    endsAs: ({ tellsProviderFailures }) => (tellsProviderFailures ? "failed" : "completed"),
  },
  { goal: "Watch the queue", fate: "is interrupted by the owner", endsAs: () => "interrupted" },
  {
    goal: "Wait for nobody",
    fate: "gets no answer",
    endsAs: ({ capsWallClock }) => (capsWallClock ? "timeout" : undefined),
  },
];

const PROMPT = "Have the work done.";
const NEVER = new Promise<never>(() => {});

/** Writes the script of the work. Nobody ends before `seen`, so that whoever looks now and then sees everybody. */
export function scriptWork(model: ModelServer, seen: Promise<unknown>): void {
  const first = PLAN.filter(({ parent }) => parent === undefined);
  const tasks = first.map(({ goal }) => (goal === "Plan the release" ? { goal, role: "orchestrator" } : { goal }));
  model.script(PROMPT, [
    { kind: "uses_tool", tool: "delegate_task", input: { tasks } },
    { kind: "answers", text: "They are at it." },
  ]);
  model.script("Read the paper", [{ kind: "answers", text: "It is read.", after: seen }]);
  model.script("Run the tests", [
    { kind: "uses_tool", tool: "terminal", input: { command: "true" } },
    { kind: "answers", text: "They pass.", after: seen },
  ]);
  model.script("Plan the release", [
    { kind: "uses_tool", tool: "delegate_task", input: { goal: "Write the notes" } },
    { kind: "answers", text: "It is planned." },
  ]);
  model.script("Write the notes", [{ kind: "answers", text: "They are written.", after: seen }]);
  model.script("Ask the broken provider", [{ kind: "refuses", status: 400, after: seen }]);
  model.script("Watch the queue", [{ kind: "answers", text: "It is empty.", after: NEVER }]);
  model.script("Wait for nobody", [{ kind: "answers", text: "Nobody came.", after: NEVER }]);
}

/** What the owner saw of the work. */
export interface SeenWork {
  readonly sessionId: string;
  /** Ids by goal. */
  readonly ids: ReadonlyMap<string, string>;
  /** The gateway's words for the ends, by goal. */
  readonly ends: ReadonlyMap<string, string>;
  readonly frames: readonly OwnerFrame[];
}

/**
 * Opens a session of the owner's, and resolves when its agent is there: older builds pass over a prompt that has waited for
 * that too long. @param choice more about the session: its model, its profile
 */
export async function openSession(owner: Owner, choice: Readonly<Record<string, string>> = {}): Promise<string> {
  const { session_id: id } = await owner.ask("session.create", { cols: 80, ...choice });
  if (typeof id !== "string") throw new Error("the gateway names no session");
  await owner.until(({ type, sessionId }) => type === "session.info" && sessionId === id);
  return id;
}

/** Resolves with the child's id when the owner is told that it starts. */
export async function startOf(owner: Owner, goal: string): Promise<string> {
  const { payload } = await owner.until(({ type, payload }) => type === "subagent.start" && payload["goal"] === goal);
  return String(payload["subagent_id"]);
}

/** Resolves with the gateway's word when the owner is told that the child has ended. */
export async function endOf(owner: Owner, goal: string): Promise<string> {
  const { payload } = await owner.until(
    ({ type, payload }) => type === "subagent.complete" && payload["goal"] === goal,
  );
  return String(payload["status"]);
}

/** Resolves when so many turns of the session's agent have come to their end, and the gateway says that it rests. */
async function turnsOf(owner: Owner, turns: number): Promise<void> {
  await owner.until(() => {
    const last = owner.frames.filter(({ type }) => type === "message.complete")[turns - 1];
    if (last === undefined) return false;
    const after = owner.frames.slice(owner.frames.indexOf(last));
    return after.some(({ type, payload }) => type === "session.info" && payload["running"] === false);
  });
}

/**
 * Has the work done, as the owner of a session.
 * @param whenRunning awaited with the ids, by goal, while everybody runs
 * @param open ends the wait of those who wait for being seen
 */
export async function haveWorkDone(
  owner: Owner,
  build: HermesPackage,
  open: () => void,
  whenRunning: (ids: ReadonlyMap<string, string>) => Promise<unknown>,
): Promise<SeenWork> {
  const sessionId = await openSession(owner);
  await owner.ask("prompt.submit", { session_id: sessionId, text: PROMPT });
  const ids = new Map<string, string>();
  for (const { goal } of PLAN) ids.set(goal, await startOf(owner, goal));
  await owner.until(({ type, payload }) => type === "subagent.tool" && payload["goal"] === "Run the tests");
  await turnsOf(owner, 1);
  await whenRunning(ids);
  // An older build knows children by their ids alone, and passes over what else it is told.
  await owner.ask("subagent.interrupt", { session_id: sessionId, subagent_id: ids.get("Watch the queue") });
  await endOf(owner, "Watch the queue");
  open();
  const ends = new Map<string, string>();
  for (const { goal, endsAs } of PLAN) if (endsAs(build) !== undefined) ends.set(goal, await endOf(owner, goal));
  // The gateway tells the session's agent of a failure, or of the end of them all: one more turn. And it names the session
  // by what the model said. After that, nothing more comes of what was done.
  await turnsOf(owner, 2);
  await owner.until(({ type, payload }) => type === "session.title" && payload["title"] !== PROMPT);
  return { sessionId, ids, ends, frames: [...owner.frames] };
}
