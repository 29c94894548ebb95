import type { JSX } from "preact";
import { useModel } from "../model/use-board.ts";
import { clockWords, zoneWords } from "./time-words.ts";

/** Whether what is shown is live. While it is not, it says as of when it is, and that the clocks stand still. */
export function ConnectionLine(): JSX.Element {
  const model = useModel();
  const { kind } = model.connection;
  return (
    <p id="connection" role="status" data-connection={kind}>
      {kind === "connecting" && "Connecting…"}
      {kind === "live" && `Live · ${zoneWords()}`}
      {kind === "refused" && "A token is needed"}
      {kind === "interrupted" && interruptedWords(model.summary === undefined, model.now)}
    </p>
  );
}

function interruptedWords(isEmpty: boolean, now: number): string {
  if (isEmpty) return "The collector does not answer. Trying again…";
  const at = clockWords(new Date(now).toISOString());
  return `Connection lost. This is what was known at ${at}; all clocks stand still. Trying again…`;
}
