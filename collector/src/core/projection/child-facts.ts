import { isTerminal, type ReservedDetails, type State } from "@agent-lifecycle/proto";

/**
 * The reserved members of `details` that a child keeps for display (N4). They describe the child; no rule of the
 * projection reads them.
 */
export type ChildFacts = Readonly<Partial<Omit<ReservedDetails, "inferred">>> & {
  /** The source implied the current state and did not report it. */
  readonly stateInferred?: true;
};

const LASTING_FACTS = [
  "name",
  "agentType",
  "model",
  "routingProfile",
  "usage",
  "transcriptRef",
  "resultRef",
  "pid",
  "host",
  "cancelRequestedAt",
] as const;

const ENDING_FACTS = ["cause", "exitCode", "signal"] as const;

/** What a report without a state (an activity, a heartbeat, a snapshot entry) teaches about the child. */
export function learnFacts(
  facts: ChildFacts | undefined,
  details: ReservedDetails | undefined,
  isActivity: boolean,
): ChildFacts | undefined {
  const forgetsTool = isActivity && facts?.tool !== undefined && details?.tool === undefined;
  if (details === undefined && !forgetsTool) return facts;
  const learned: Record<string, unknown> = forgetsTool ? without(facts, "tool") : { ...facts };
  copyMembers(learned, details, LASTING_FACTS);
  copyMembers(learned, details, ["tool"]);
  return finished(learned);
}

/** What a report of a state teaches: what it waits on lasts as long as it waits, causes belong to the end. */
export function learnFactsOfState(
  facts: ChildFacts | undefined,
  details: ReservedDetails | undefined,
  state: State,
): ChildFacts | undefined {
  const isOfEarlierState = facts?.waitingOn !== undefined || facts?.stateInferred !== undefined;
  if (details === undefined && !isOfEarlierState) return facts;
  const learned = isOfEarlierState ? without(facts, "waitingOn", "stateInferred") : { ...facts };
  copyMembers(learned, details, LASTING_FACTS);
  copyMembers(learned, details, ["tool"]);
  if (state === "waiting") copyMembers(learned, details, ["waitingOn"]);
  if (isTerminal(state)) copyMembers(learned, details, ENDING_FACTS);
  if (details?.inferred === true) learned["stateInferred"] = true;
  return finished(learned);
}

/** A copy that was never more than it is: `delete` would turn it into a slow and large kind of object, for good. */
function without(facts: ChildFacts, ...forgotten: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(facts).filter(([name]) => !forgotten.includes(name)));
}

function copyMembers(
  target: Record<string, unknown>,
  details: ReservedDetails | undefined,
  names: readonly (keyof ReservedDetails & string)[],
): void {
  if (details === undefined) return;
  for (const name of names) if (details[name] !== undefined) target[name] = details[name];
}

function finished(facts: Record<string, unknown>): ChildFacts | undefined {
  return Object.keys(facts).length === 0 ? undefined : (facts as ChildFacts);
}
