import type { VisibilityView } from "@agent-lifecycle/proto";
import type { JSX } from "preact";
import { declaredFacts } from "../../src/display/visibility-words.ts";
import { clockWords } from "../parts/time-words.ts";

/** What was declared of a source, apart from what is known of it: folded, unless it differs from what is seen. */
export function DeclaredVisibility({ visibility }: { readonly visibility: VisibilityView }): JSX.Element {
  const { mismatches } = visibility;
  const differs = mismatches.length === 0 ? "" : `: differs from what is seen in ${mismatches.length}`;
  return (
    <details class="declared" open={mismatches.length > 0}>
      <summary>Declared visibility{differs}</summary>
      <dl>
        {declaredFacts(visibility, clockWords).map(({ name, value }) => (
          <div class="fact" key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
