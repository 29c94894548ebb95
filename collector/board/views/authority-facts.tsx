import type { SourcesView } from "@agent-lifecycle/proto";
import type { JSX } from "preact";

type Source = SourcesView["sources"][number];

/** Who can be asked about the children of a source, as far as the collector says. */
export function AuthorityFacts(_props: { readonly source: Source; readonly now: number }): JSX.Element {
  return (
    <div class="fact">
      <dt>authority</dt>
      <dd>not stated by this collector</dd>
    </div>
  );
}
