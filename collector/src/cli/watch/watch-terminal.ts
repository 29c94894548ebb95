import type { ChildView, State, SummaryView } from "@agent-lifecycle/proto";
import { type Connection, type Follower, follow } from "../../client/follow.ts";
import { childKey } from "../../display/child-key.ts";
import { type ApiClientOptions, createApiClient } from "../api-client.ts";
import { TerminalScreen } from "./terminal-screen.ts";
import { drawScreen, pageRows, type ScreenSize } from "./watch-screen.ts";
import { FIRST_STATE, listedChildren, pressed, type WatchFacts, type WatchState } from "./watch-state.ts";

const FRAME_MS = 100;
const TICK_MS = 1_000;
const LIVE: readonly State[] = ["created", "starting", "running", "waiting"];
const ENDED: readonly State[] = ["completed", "failed", "cancelled", "lost"];

/** The live terminal view, until it is left by a key or the signal. Draws at most ten times a second. */
export async function watchTerminal(
  options: ApiClientOptions & { readonly limit: number },
  signal: AbortSignal,
): Promise<void> {
  const screen = new TerminalScreen(process.stdin, process.stdout);
  const stopped = new AbortController();
  const stop = (): void => stopped.abort();
  signal.addEventListener("abort", stop, { once: true });
  const view = new WatchView(screen, stop);
  const ticking = setInterval(() => view.plan(), TICK_MS);
  try {
    view.open();
    const lists = [
      { states: LIVE, most: options.limit },
      { states: ENDED, most: options.limit },
    ];
    await follow(createApiClient(options), view, { signal: stopped.signal, lists });
    // Refused: what is said of it stays until it is left.
    if (!stopped.signal.aborted) await new Promise((resolve) => stopped.signal.addEventListener("abort", resolve));
  } finally {
    clearInterval(ticking);
    screen.close();
  }
}

class WatchView implements Follower {
  readonly #screen: TerminalScreen;
  readonly #onEnd: () => void;
  readonly #children = new Map<string, ChildView>();
  #summary: SummaryView | undefined;
  #connection: Connection = { kind: "connecting" };
  #clockOffset = Date.now() - performance.now();
  #frozenAt: number | undefined;
  #state: WatchState = FIRST_STATE;
  #isPlanned = false;

  constructor(screen: TerminalScreen, onEnd: () => void) {
    this.#screen = screen;
    this.#onEnd = onEnd;
  }

  open(): void {
    this.#screen.open(
      (key) => this.#press(key),
      () => this.#draw(),
    );
    this.#draw();
  }

  onConnection(connection: Connection): void {
    if (connection.kind === "interrupted") this.#frozenAt ??= this.#now();
    this.#connection = connection;
    this.plan();
  }

  onListed(children: readonly ChildView[], summary: SummaryView): void {
    this.#children.clear();
    this.onChanged(children, summary);
  }

  onChanged(children: readonly ChildView[], summary: SummaryView | undefined): void {
    for (const child of children) this.#children.set(childKey(child), child);
    if (summary !== undefined) {
      this.#summary = summary;
      this.#clockOffset = Date.parse(summary.at) - performance.now();
      this.#frozenAt = undefined;
    }
    this.plan();
  }

  plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setTimeout(() => {
      this.#isPlanned = false;
      this.#draw();
    }, FRAME_MS);
  }

  #press(key: string): void {
    const keys = listedChildren(this.#facts(), this.#state).map(childKey);
    this.#state = pressed(this.#state, key, keys, pageRows(this.#size()));
    if (this.#state.isEnding) this.#onEnd();
    else this.#draw();
  }

  #draw(): void {
    this.#screen.draw(drawScreen(this.#facts(), this.#state, this.#size()));
  }

  #facts(): WatchFacts {
    return {
      children: [...this.#children.values()],
      summary: this.#summary,
      connection: this.#connection,
      now: this.#now(),
    };
  }

  #now(): number {
    return this.#frozenAt ?? performance.now() + this.#clockOffset;
  }

  #size(): ScreenSize {
    return { columns: this.#screen.columns, rows: this.#screen.rows, colour: process.env["NO_COLOR"] === undefined };
  }
}
