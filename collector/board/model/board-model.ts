import type { ChildView, SummaryView } from "@agent-lifecycle/proto";
import { type Connection, type Follower, follow } from "../../src/client/follow.ts";
import type { LifecycleClient } from "../../src/client/lifecycle-client.ts";
import { childKey } from "../../src/display/child-key.ts";
import { searchText } from "../../src/display/child-words.ts";

/** One child, with what is worked out once per change. */
export interface Row {
  readonly key: string;
  child: ChildView;
  /** What a search looks at. */
  text: string;
}

/** The children that are listed at first; the counts are always of all. */
const LISTS = [
  { states: ["created", "starting", "running", "waiting"], most: 20_000 },
  { states: ["failed", "lost"], most: 2_000 },
  { states: ["completed", "cancelled"], most: 2_000 },
] as const;

const TICK_MS = 1_000;

/**
 * What the board knows: the children and the counts, the connection, and the time. However fast changes come, listeners
 * are told at most once a frame. While the connection is interrupted the time stands still: no age grows that nobody can
 * vouch for.
 */
export class BoardModel implements Follower {
  readonly client: LifecycleClient;
  readonly #rows = new Map<string, Row>();
  readonly #listeners = new Set<() => void>();
  #ordered: Row[] = [];
  #mustSort = false;
  #summary: SummaryView | undefined;
  #connection: Connection = { kind: "connecting" };
  /** The collector's clock minus this page's. */
  #clockOffset = 0;
  #frozenAt: number | undefined;
  #isPlanned = false;
  #version = 0;
  #stopped = new AbortController();

  constructor(client: LifecycleClient) {
    this.client = client;
  }

  /** Grows by every frame in which anything is new. */
  get version(): number {
    return this.#version;
  }

  get summary(): SummaryView | undefined {
    return this.#summary;
  }

  get connection(): Connection {
    return this.#connection;
  }

  /** The collector's clock, milliseconds since the epoch; it stands still while the connection is interrupted. */
  get now(): number {
    return this.#frozenAt ?? performance.now() + this.#clockOffset;
  }

  get isFrozen(): boolean {
    return this.#frozenAt !== undefined;
  }

  /** Every listed child, the newest first. */
  get rows(): readonly Row[] {
    if (this.#mustSort) {
      this.#ordered = [...this.#rows.values()].sort(newestFirst);
      this.#mustSort = false;
    }
    return this.#ordered;
  }

  find(key: string): ChildView | undefined {
    return this.#rows.get(key)?.child;
  }

  /** @returns what ends it */
  start(): () => void {
    const timer = setInterval(() => this.#tick(), TICK_MS);
    // A page that is left may be kept for a return; its stream would hold one of the few connections of its origin.
    const leave = (): void => this.#stopped.abort();
    const comeBack = ({ persisted }: PageTransitionEvent): void => {
      if (persisted) this.restart();
    };
    window.addEventListener("pagehide", leave);
    window.addEventListener("pageshow", comeBack);
    this.restart();
    return () => {
      clearInterval(timer);
      window.removeEventListener("pagehide", leave);
      window.removeEventListener("pageshow", comeBack);
      this.#stopped.abort();
    };
  }

  /** Begins to follow, or begins again: with another token. */
  restart(): void {
    this.#stopped.abort();
    this.#stopped = new AbortController();
    void follow(this.client, this, { signal: this.#stopped.signal, lists: LISTS });
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onConnection(connection: Connection): void {
    if (connection.kind === this.#connection.kind && connection.kind === "live") return;
    if (connection.kind === "interrupted") this.#frozenAt ??= this.now;
    this.#connection = connection;
    this.#plan();
  }

  onListed(children: readonly ChildView[], summary: SummaryView): void {
    this.#rows.clear();
    this.#mustSort = true;
    this.onChanged(children, summary);
  }

  onChanged(children: readonly ChildView[], summary: SummaryView | undefined): void {
    for (const child of children) this.#take(child);
    if (summary !== undefined) {
      this.#summary = summary;
      this.#clockOffset = Date.parse(summary.at) - performance.now();
      this.#frozenAt = undefined;
    }
    if (children.length > 0 || summary !== undefined) this.#plan();
  }

  #take(child: ChildView): void {
    if (child.state === null) return;
    const key = childKey(child);
    const row = this.#rows.get(key);
    if (row === undefined) {
      this.#rows.set(key, { key, child, text: searchText(child) });
      this.#mustSort = true;
      return;
    }
    row.child = child;
    row.text = searchText(child);
  }

  /** Ages grow by themselves. */
  #tick(): void {
    if (!this.isFrozen) this.#plan();
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    requestAnimationFrame(() => {
      this.#isPlanned = false;
      this.#version += 1;
      for (const listener of this.#listeners) listener();
    });
  }
}

function newestFirst({ child: one }: Row, { child: other }: Row): number {
  if (one.firstObservedAt !== other.firstObservedAt) return one.firstObservedAt < other.firstObservedAt ? 1 : -1;
  return one.childId < other.childId ? -1 : 1;
}
