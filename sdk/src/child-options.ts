import {
  CAPABILITY_NAMES,
  type Capabilities,
  type CapabilityKnowledge,
  type CapabilityName,
  formatTimestamp,
  isRepresentable,
  type Lineage,
  parseTimestamp,
  type State,
} from "@agent-lifecycle/proto";
import { identifierFrom, isMembers } from "./argument.ts";
import type { DetailsInput } from "./event-details.ts";
import type { ChildReference } from "./lineage/carrier.ts";

/** Who delegated the child: a handle, or its identity when the handle lives in another process. */
export interface ParentReference {
  readonly childId: string;
  readonly rootChildId?: string;
  readonly lineage?: Lineage;
}

/** What `child()` takes. Everything has a default. */
export interface ChildOptions {
  /** Default: a fresh UUID. Never reuse one: a retry is a new child. */
  readonly childId?: string;
  /**
   * The child's root and parent follow from it. Default: the child whose `run` this is called in, else the one that the
   * process or thread was started for (`AGENT_LIFECYCLE_PARENT_CHILD_ID`), else the child is a root; `null`: it is one
   * in any case. An external child, and one with a `rootChildId`, have no parent unless it is stated.
   */
  readonly parent?: ParentReference | null;
  /** For a root that lives elsewhere; a parent's root wins. Default: the parent's root, else the child itself. */
  readonly rootChildId?: string;
  /** 0 for the first try, which is the default. */
  readonly attempt?: number;
  /** The child began before this process looked at it. Default false. */
  readonly external?: boolean;
  /** When an external child was adopted. Default: now. */
  readonly adoptedAt?: string | Date;
  /** The state in which an external child was found. Default `created`. */
  readonly observedState?: "created" | "starting" | "running" | "waiting";
  /** Whether heartbeats are sent for it. Default: true, but false for an external child: our loop proves nothing of it. */
  readonly automaticHeartbeats?: boolean;
  /** What this source can offer. `heartbeat` is known when automatic heartbeats are on; the rest only as stated. */
  readonly capabilities?: Partial<Capabilities>;
  readonly details?: DetailsInput;
}

/** What `adopt()` takes: a child that began before this process looked at it. */
export type AdoptOptions = Omit<ChildOptions, "external" | "attempt">;

/** What may change from one attempt to the next; the capabilities stay unless stated. */
export type RetryOptions = Pick<ChildOptions, "childId" | "automaticHeartbeats" | "capabilities" | "details">;

export interface ResolvedChild {
  readonly childId: string;
  readonly lineage: Lineage;
  readonly observedState: State;
  readonly automaticHeartbeats: boolean;
  readonly capabilities: Partial<Capabilities>;
  readonly details: unknown;
}

export interface ChildResolution {
  readonly freshChildId: () => string;
  readonly nowMs: number;
  /** Who delegates where nobody is named. */
  readonly delegator: ChildReference | undefined;
  /** An option that cannot be used; its default is taken. */
  readonly onProblem: (path: string, rule: string) => void;
}

/** Reads a host's options. What is valid stands; what is not is told and replaced by its default. */
export function resolveChild(given: unknown, resolution: ChildResolution): ResolvedChild {
  const { onProblem } = resolution;
  if (given !== undefined && !isMembers(given)) onProblem("options", "must be an object");
  const options: Readonly<Record<string, unknown>> = isMembers(given) ? given : {};
  const childId = identifierOption(options.childId, "childId", onProblem) ?? resolution.freshChildId();
  const external = booleanOption(options.external, "external", onProblem) ?? false;
  return {
    childId,
    lineage: resolveLineage(childId, external, options, resolution),
    observedState: resolveObservedState(options.observedState, external, onProblem),
    automaticHeartbeats: booleanOption(options.automaticHeartbeats, "automaticHeartbeats", onProblem) ?? !external,
    capabilities: resolveCapabilities(options.capabilities, onProblem),
    details: options.details,
  };
}

type OnProblem = ChildResolution["onProblem"];

function identifierOption(value: unknown, path: string, onProblem: OnProblem): string | undefined {
  if (value === undefined) return undefined;
  const identifier = identifierFrom(value);
  if (identifier === undefined) onProblem(path, "must be a text of 1 to 256 characters");
  return identifier;
}

function booleanOption(value: unknown, path: string, onProblem: OnProblem): boolean | undefined {
  if (value === undefined || typeof value === "boolean") return value;
  onProblem(path, "must be true or false");
  return undefined;
}

function resolveLineage(
  childId: string,
  external: boolean,
  options: Readonly<Record<string, unknown>>,
  { nowMs, delegator, onProblem }: ChildResolution,
): Lineage {
  const statedRoot = identifierOption(options.rootChildId, "rootChildId", onProblem);
  const inherits = options.parent === undefined && statedRoot === undefined && !external;
  const parent =
    inherits && delegator?.childId !== childId
      ? delegator
      : resolveParent(options.parent ?? undefined, childId, statedRoot, onProblem);
  return Object.freeze({
    rootChildId: parent?.rootChildId ?? statedRoot ?? childId,
    attempt: resolveAttempt(options.attempt, onProblem),
    external,
    ...(parent === undefined ? undefined : { parentChildId: parent.childId }),
    ...(external ? { adoptedAt: resolveAdoptedAt(options.adoptedAt, nowMs, onProblem) } : undefined),
  });
}

function resolveParent(
  value: unknown,
  childId: string,
  statedRoot: string | undefined,
  onProblem: OnProblem,
): { readonly childId: string; readonly rootChildId: string } | undefined {
  if (value === undefined) return undefined;
  const parentId = isMembers(value) ? identifierFrom(value.childId) : undefined;
  if (!isMembers(value) || parentId === undefined) {
    onProblem("parent", "must be a child or { childId, rootChildId }");
    return undefined;
  }
  if (parentId === childId) {
    onProblem("parent", "must not be the child itself");
    return undefined;
  }
  const lineage = value.lineage;
  const root =
    identifierFrom(value.rootChildId) ?? (isMembers(lineage) ? identifierFrom(lineage.rootChildId) : undefined);
  if (root === undefined && statedRoot === undefined)
    onProblem("parent.rootChildId", "is missing: the parent is taken for a root");
  if (root !== undefined && statedRoot !== undefined && root !== statedRoot) {
    onProblem("rootChildId", "differs from the parent's, which is taken");
  }
  return { childId: parentId, rootChildId: root ?? statedRoot ?? parentId };
}

function resolveAttempt(value: unknown, onProblem: OnProblem): number {
  if (value === undefined) return 0;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  onProblem("attempt", "must be a whole number from 0");
  return 0;
}

function resolveAdoptedAt(value: unknown, nowMs: number, onProblem: OnProblem): string {
  if (value === undefined) return formatTimestamp(nowMs);
  const timeMs =
    value instanceof Date ? value.getTime() : typeof value === "string" ? parseTimestamp(value) : undefined;
  if (timeMs !== undefined && isRepresentable(timeMs)) return formatTimestamp(timeMs);
  onProblem("adoptedAt", "must be a Date or an RFC 3339 time in UTC");
  return formatTimestamp(nowMs);
}

function resolveObservedState(value: unknown, external: boolean, onProblem: OnProblem): State {
  if (value === undefined || value === "created") return "created";
  if (value === "starting" || value === "running" || value === "waiting") {
    if (external) return value;
    onProblem("observedState", "is only for external children: others begin as created");
    return "created";
  }
  onProblem("observedState", "must be created, starting, running or waiting");
  return "created";
}

function resolveCapabilities(value: unknown, onProblem: OnProblem): Partial<Capabilities> {
  if (value === undefined) return {};
  const stated: Partial<Record<CapabilityName, CapabilityKnowledge>> = {};
  if (!isMembers(value)) onProblem("capabilities", "must be an object");
  else {
    for (const name of CAPABILITY_NAMES) {
      const knowledge = value[name];
      if (knowledge === "known" || knowledge === "unknown") stated[name] = knowledge;
      else if (knowledge !== undefined) onProblem(`capabilities.${name}`, "must be known or unknown");
    }
  }
  return stated;
}
