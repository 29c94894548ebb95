import type { State, SummaryView } from "@agent-lifecycle/proto";
import type { JSX } from "preact";
import { useLook } from "../model/use-board.ts";
import { StateShape } from "./state-mark.tsx";

const LIVE: readonly State[] = ["created", "starting", "running", "waiting"];
const ENDS: readonly State[] = ["completed", "failed", "cancelled", "lost"];

/** started = live + completed + failed + cancelled + lost. Each term narrows the board down to what it counts. */
export function Counts({ summary }: { readonly summary: SummaryView }): JSX.Element {
  const { started, live, byState } = summary;
  const { look, go } = useLook();
  const toggle = (state: State): void => {
    const states = look.states.includes(state) ? look.states.filter((one) => one !== state) : [...look.states, state];
    go({ states, child: undefined }, true);
  };
  const term = (state: State): JSX.Element => (
    <button
      key={state}
      type="button"
      class={`term state-${state} ${byState[state] === 0 ? "is-zero" : ""}`}
      aria-pressed={look.states.includes(state)}
      onClick={() => toggle(state)}
    >
      <StateShape state={state} />
      <b>{byState[state]}</b> {state}
    </button>
  );
  return (
    <section class="counts" aria-label="Counts">
      <span class="sum">
        <b>{started}</b> started
      </span>
      <span class="operator">=</span>
      <span class="bracket">
        <span class="sum">
          <b>{live}</b> live
        </span>
        <span class="operator">:</span>
        {LIVE.map(term)}
      </span>
      {ENDS.map((state) => (
        <span class="addend" key={state}>
          <span class="operator">+</span>
          {term(state)}
        </span>
      ))}
    </section>
  );
}

/** How many are marked stale and provisional: marks, not states, and no terms of the sum. */
export function MarkCounts({ summary }: { readonly summary: SummaryView }): JSX.Element {
  const { stale, provisional } = summary;
  const { look, go } = useLook();
  return (
    <span class="marks-of">
      <button
        type="button"
        class={`term mark-stale ${stale === 0 ? "is-zero" : ""}`}
        aria-pressed={look.stale}
        onClick={() => go({ stale: !look.stale, child: undefined }, true)}
      >
        <b>{stale}</b> stale
      </button>
      <button
        type="button"
        class={`term mark-provisional ${provisional === 0 ? "is-zero" : ""}`}
        aria-pressed={look.provisional}
        onClick={() => go({ provisional: !look.provisional, child: undefined }, true)}
      >
        <b>{provisional}</b> provisional
      </button>
    </span>
  );
}
