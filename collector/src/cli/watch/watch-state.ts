import type { ChildView, SummaryView } from "@agent-lifecycle/proto";
import type { Connection } from "../../client/follow.ts";
import { attentionOf, urgencyOf } from "../../display/attention.ts";
import { childKey, hasEnded } from "../../display/child-key.ts";
import { isFound, searchText } from "../../display/child-words.ts";

/** Which children are listed; `s` goes from one to the next. */
export const SCOPES = ["all", "attention", "live", "ended"] as const;

export type Scope = (typeof SCOPES)[number];

/** What the person at the terminal has chosen. */
export interface WatchState {
  readonly scope: Scope;
  readonly filter: string;
  /** Typing goes into the filter. */
  readonly isTyping: boolean;
  /** Key of the marked child; empty before any was. */
  readonly marked: string;
  /** The marked child is shown in full. */
  readonly isOpen: boolean;
  readonly isEnding: boolean;
}

export const FIRST_STATE: WatchState = {
  scope: "all",
  filter: "",
  isTyping: false,
  marked: "",
  isOpen: false,
  isEnding: false,
};

/** What is known. */
export interface WatchFacts {
  readonly children: readonly ChildView[];
  readonly summary: SummaryView | undefined;
  readonly connection: Connection;
  /** The collector's clock, milliseconds since the epoch; it stands still while the connection is interrupted. */
  readonly now: number;
}

/** The children that are listed, what needs a person first, then what goes on, then what is over. */
export function listedChildren({ children, now }: WatchFacts, { scope, filter }: WatchState): readonly ChildView[] {
  return children
    .filter((child) => isInScope(child, scope, now) && (filter === "" || isFound(searchText(child), filter)))
    .map((child) => ({ child, rank: rankOf(child, now) }))
    .toSorted((one, other) => one.rank - other.rank || compareNewest(one.child, other.child))
    .map(({ child }) => child);
}

function isInScope(child: ChildView, scope: Scope, now: number): boolean {
  switch (scope) {
    case "all":
      return true;
    case "attention":
      return attentionOf(child, now, Number.POSITIVE_INFINITY) === "attention";
    case "live":
      return !hasEnded(child);
    case "ended":
      return hasEnded(child);
  }
}

const RANKS = { attention: 0, running: 10, finished: 20, folded: 20 } as const;

function rankOf(child: ChildView, now: number): number {
  const attention = attentionOf(child, now, Number.POSITIVE_INFINITY);
  return RANKS[attention] + (attention === "attention" ? urgencyOf(child) : 0);
}

function compareNewest(one: ChildView, other: ChildView): number {
  if (one.firstObservedAt !== other.firstObservedAt) return one.firstObservedAt < other.firstObservedAt ? 1 : -1;
  return childKey(one) < childKey(other) ? -1 : 1;
}

/**
 * What a key makes of the state.
 * @param key as a terminal names it: `up`, `pagedown`, `return`, `escape`, `backspace`, or what it types
 * @param keys of the children listed, in their order
 * @param page rows of one page
 */
export function pressed(state: WatchState, key: string, keys: readonly string[], page: number): WatchState {
  if (key === "ctrl-c") return { ...state, isEnding: true };
  if (state.isTyping) return typed(state, key);
  if (state.isOpen && ["escape", "return", "left", "q"].includes(key)) return { ...state, isOpen: false };
  const at = Math.max(0, keys.indexOf(state.marked));
  const mark = (index: number): WatchState => ({
    ...state,
    marked: keys[Math.min(keys.length - 1, Math.max(0, index))] ?? "",
  });
  switch (key) {
    case "q":
      return { ...state, isEnding: true };
    case "down":
    case "j":
      return mark(state.marked === "" ? 0 : at + 1);
    case "up":
    case "k":
      return mark(at - 1);
    case "pagedown":
    case " ":
      return mark(at + page);
    case "pageup":
      return mark(at - page);
    case "home":
    case "g":
      return mark(0);
    case "end":
    case "G":
      return mark(keys.length - 1);
    case "/":
      return { ...state, isTyping: true };
    case "s":
      return { ...state, scope: SCOPES[(SCOPES.indexOf(state.scope) + 1) % SCOPES.length] ?? "all" };
    case "escape":
      return { ...state, filter: "", scope: "all" };
    case "return":
    case "right":
      return state.marked === "" ? state : { ...state, isOpen: true };
    default:
      return state;
  }
}

function typed(state: WatchState, key: string): WatchState {
  if (key === "return") return { ...state, isTyping: false };
  if (key === "escape") return { ...state, isTyping: false, filter: "" };
  if (key === "backspace") return { ...state, filter: [...state.filter].slice(0, -1).join("") };
  return [...key].length === 1 && key >= " " ? { ...state, filter: state.filter + key } : state;
}
