import type { InputView } from "@agent-lifecycle/proto";
import type { JSX } from "preact";
import { clockWords } from "../parts/time-words.ts";

/** What each result means, for people. The literal word stands beside it. */
const RESULT_WORDS: Readonly<Record<string, string>> = {
  applied: "",
  provisional: "accepted over something missing",
  gap_filled: "came late and closed a gap",
  deduplicated: "was known already",
  out_of_order: "came too late to change anything",
  terminal_immutable: "claimed after the end; changed nothing",
  conflict: "contradicts what was said before",
  rejected: "changed nothing",
};

/** What was stored about a child, each with what became of it, the newest first. */
export function EventLog({
  inputs,
  isCut,
}: {
  readonly inputs: readonly InputView[];
  readonly isCut: boolean;
}): JSX.Element {
  return (
    <section class="log">
      <h3>Events and verdicts</h3>
      {isCut && <p class="quiet">More is stored than is shown: these are the oldest {inputs.length}.</p>}
      <div class="table-port" tabIndex={0} role="region" aria-label="Events and verdicts">
        <table>
          <thead>
            <tr>
              <th scope="col">received</th>
              <th scope="col">what</th>
              <th scope="col">result</th>
              <th scope="col">sequence</th>
              <th scope="col">observed</th>
            </tr>
          </thead>
          <tbody>
            {inputs.toReversed().map((input) => (
              <LogRow key={input.inputId} input={input} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function LogRow({ input }: { readonly input: InputView }): JSX.Element {
  const { event, status, diagnostic, at, backfill, type } = input;
  const words = RESULT_WORDS[status] ?? "";
  return (
    <tr class={`result-${status}`}>
      <td>
        <time dateTime={at}>{clockWords(at)}</time>
        {backfill && <span class="tag">backfill</span>}
      </td>
      <td>
        {event === null ? VERDICT_WORDS[type] : event.kind}
        {event?.state !== undefined && event.kind !== event.state && <b> {event.state}</b>}
        {event?.activity !== undefined && <span class="quiet"> {event.activity}</span>}
      </td>
      <td>
        <span class="result">{status}</span>
        {words !== "" && <span class="quiet"> {words}</span>}
        {diagnostic !== null && <code> {diagnostic}</code>}
      </td>
      <td class="number">{event?.sequence ?? ""}</td>
      <td>{event === null ? "" : <time dateTime={event.observedAt}>{clockWords(event.observedAt)}</time>}</td>
    </tr>
  );
}

const VERDICT_WORDS: Readonly<Record<InputView["type"], string>> = {
  event: "event",
  snapshot: "snapshot",
  stale: "the collector marked it stale",
  reconciliation: "the collector concluded a reconciliation",
  resumed: "the collector was away",
};
