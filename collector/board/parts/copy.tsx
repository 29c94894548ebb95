import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

/** A text that is often needed elsewhere, with a button that copies it. */
export function Copy({ text }: { readonly text: string }): JSX.Element {
  const [outcome, setOutcome] = useState("");
  useEffect(() => {
    if (outcome === "") return;
    const timer = setTimeout(() => setOutcome(""), 2_000);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setOutcome("copied");
    } catch {
      setOutcome("select it by hand");
    }
  };
  return (
    <span class="copy">
      <code>{text}</code>
      <button type="button" aria-label={`Copy ${text}`} onClick={() => void copy()}>
        copy
      </button>
      <span role="status" class="quiet">
        {outcome}
      </span>
    </span>
  );
}
