import type { State } from "@agent-lifecycle/proto";
import type { JSX } from "preact";

/** A shape for each state, told apart without colour; the literal word always stands beside it. */
const SHAPES: Readonly<Record<State, JSX.Element>> = {
  created: <circle class="line dashed" cx="8" cy="8" r="5.5" />,
  starting: (
    <>
      <circle class="line" cx="8" cy="8" r="5.5" />
      <path d="M8 2.5 A5.5 5.5 0 0 1 8 13.5 Z" />
    </>
  ),
  running: <path d="M4 2.5 L13.5 8 L4 13.5 Z" />,
  waiting: <path d="M3.5 2.5 h3.5 v11 h-3.5 Z M9 2.5 h3.5 v11 h-3.5 Z" />,
  completed: <path class="line thick" d="M2.5 8.5 L6.5 12.5 L13.5 4" />,
  failed: <path class="line thick" d="M3.5 3.5 L12.5 12.5 M12.5 3.5 L3.5 12.5" />,
  cancelled: (
    <>
      <circle class="line" cx="8" cy="8" r="5.5" />
      <path class="line" d="M4.2 11.8 L11.8 4.2" />
    </>
  ),
  lost: <path class="line thick" d="M5 5.5 C5 1.5 11 1.5 11 5.3 C11 7.8 8 7.6 8 10 M8 12.8 L8 13.6" />,
};

export function StateShape({ state }: { readonly state: State }): JSX.Element {
  return (
    <svg class="shape" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      {SHAPES[state]}
    </svg>
  );
}

/** The literal state, by shape, word and colour. */
export function StateMark({ state }: { readonly state: State | null }): JSX.Element {
  if (state === null) return <span class="state">state unknown</span>;
  return (
    <span class={`state state-${state}`}>
      <StateShape state={state} />
      <span>{state}</span>
    </span>
  );
}
