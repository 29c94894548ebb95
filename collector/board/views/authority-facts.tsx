import type { SourcesView } from "@agent-lifecycle/proto";
import type { JSX } from "preact";
import { authorityWords, connectionWords, offerWords } from "../../src/display/source-words.ts";
import { clockWords } from "../parts/time-words.ts";

type Source = SourcesView["sources"][number];

/** Who can be asked about the children of a source, and what observes them, as far as the collector says. */
export function AuthorityFacts({ source: { authority, adapter } }: { readonly source: Source }): JSX.Element {
  return (
    <>
      <Fact name="authority" value={authorityWords(authority, clockWords)} />
      {adapter !== null && (
        <>
          <Fact name="connection" value={connectionWords(adapter, clockWords)} />
          <Fact name="what it offers" value={offerWords(adapter)} />
          {adapter.lastFailure !== null && (
            <Fact
              name="a look that failed"
              value={`${clockWords(adapter.lastFailure.at)}: ${adapter.lastFailure.text}`}
            />
          )}
        </>
      )}
    </>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }): JSX.Element {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
