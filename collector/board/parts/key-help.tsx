import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

const KEYS = [
  ["1 … 5", "Now, Tree, Timeline, Sources, Diagnostics"],
  ["/", "search"],
  ["↑ ↓, Page, Home, End", "move in a list"],
  ["Enter", "open the child"],
  ["← →", "close and open a branch; move the timeline"],
  ["+ −", "zoom the timeline"],
  ["Esc", "back"],
  ["?", "these keys"],
] as const;

export function KeyHelp({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="keys" aria-label="Keys" onClose={onClose}>
      <h2>Keys</h2>
      <dl>
        {KEYS.map(([key, words]) => (
          <div class="fact" key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
