import type { State } from "@agent-lifecycle/proto";

export const VIEWS = ["now", "tree", "timeline", "sources", "diagnostics"] as const;

export type ViewName = (typeof VIEWS)[number];

/** How long ended children stay in sight, in seconds; `all` for always. */
export const KEPT_CHOICES = ["300", "3600", "86400", "all"] as const;

/** What is looked at, and how it is narrowed down: all of it is in the address, so that a look can be passed on. */
export interface Look {
  readonly view: ViewName;
  /** The child that is looked at in full, over the view. */
  readonly child: { readonly source: string; readonly childId: string } | undefined;
  readonly text: string;
  readonly states: readonly State[];
  readonly source: string;
  readonly root: string;
  readonly stale: boolean;
  readonly provisional: boolean;
  readonly kept: (typeof KEPT_CHOICES)[number];
}

const STATES: readonly State[] = [
  "created",
  "starting",
  "running",
  "waiting",
  "completed",
  "failed",
  "cancelled",
  "lost",
];

export const FIRST_LOOK: Look = {
  view: "now",
  child: undefined,
  text: "",
  states: [],
  source: "",
  root: "",
  stale: false,
  provisional: false,
  kept: "3600",
};

/** Reads an address; what it does not say, or says wrongly, is as at first. */
export function lookOf(search: string): Look {
  const query = new URLSearchParams(search);
  const childId = query.get("child");
  const source = query.get("of");
  const states = (query.get("state") ?? "").split(",");
  return {
    view: VIEWS.find((name) => name === query.get("view")) ?? FIRST_LOOK.view,
    child: childId === null || source === null ? undefined : { source, childId },
    text: query.get("q") ?? "",
    states: STATES.filter((state) => states.includes(state)),
    source: query.get("source") ?? "",
    root: query.get("root") ?? "",
    stale: query.get("stale") === "true",
    provisional: query.get("provisional") === "true",
    kept: KEPT_CHOICES.find((kept) => kept === query.get("kept")) ?? FIRST_LOOK.kept,
  };
}

/** The address of a look, without what is as at first. */
export function searchOf(look: Look): string {
  const query = new URLSearchParams();
  if (look.view !== FIRST_LOOK.view) query.set("view", look.view);
  if (look.text !== "") query.set("q", look.text);
  if (look.states.length > 0) query.set("state", look.states.join(","));
  if (look.source !== "") query.set("source", look.source);
  if (look.root !== "") query.set("root", look.root);
  if (look.stale) query.set("stale", "true");
  if (look.provisional) query.set("provisional", "true");
  if (look.kept !== FIRST_LOOK.kept) query.set("kept", look.kept);
  if (look.child !== undefined) {
    query.set("of", look.child.source);
    query.set("child", look.child.childId);
  }
  return query.size === 0 ? "" : `?${query}`;
}

/** Where the look is kept. */
export interface Address {
  current(): Look;
  /** @param replace the step is no page of its own: going back does not stop there */
  go(look: Look, replace?: boolean): void;
  /** Address for a link. */
  href(look: Look): string;
  subscribe(listener: () => void): () => void;
}

/** In the address of the browser's page. */
export function browserAddress(): Address {
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  window.addEventListener("popstate", tell);
  const href = (look: Look): string => location.pathname + searchOf(look);
  return {
    current: () => lookOf(location.search),
    go: (look, replace = false) => {
      history[replace ? "replaceState" : "pushState"](null, "", href(look));
      tell();
    },
    href,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** In memory: for a board inside somebody else's page, whose address is not ours. */
export function heldAddress(first: Look = FIRST_LOOK): Address {
  const listeners = new Set<() => void>();
  const past: Look[] = [];
  let look = first;
  return {
    current: () => look,
    go: (next, replace = false) => {
      if (!replace) past.push(look);
      look = next;
      for (const listener of listeners) listener();
    },
    href: (next) => `#${searchOf(next)}`,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
