import type { JSX } from "preact";
import { FIRST_LOOK, searchOf } from "../model/address.ts";
import { useLook, useModel } from "../model/use-board.ts";
import { MarkCounts } from "./counts.tsx";

/** What is looked for. All of it is in the address. */
export function SearchBar(): JSX.Element {
  const { look, go } = useLook();
  const model = useModel();
  const sources = [...new Set(model.rows.map(({ child }) => child.source))].sort();
  const isNarrowed = searchOf({ ...look, view: FIRST_LOOK.view, kept: FIRST_LOOK.kept, child: undefined }) !== "";
  return (
    <search class="search">
      <label for="filter">Search</label>
      <input
        id="filter"
        type="search"
        autocomplete="off"
        placeholder="id, name, source, activity   ( / )"
        value={look.text}
        onInput={({ currentTarget }) => go({ text: currentTarget.value, child: undefined }, true)}
      />
      {sources.length > 1 && (
        <select
          aria-label="Source"
          value={look.source}
          onChange={({ currentTarget }) => go({ source: currentTarget.value, child: undefined }, true)}
        >
          <option value="">all sources</option>
          {sources.map((source) => (
            <option key={source} value={source}>
              {source}
            </option>
          ))}
        </select>
      )}
      {look.root !== "" && <span class="tag">root {look.root}</span>}
      {isNarrowed && (
        <button type="button" onClick={() => go({ ...FIRST_LOOK, view: look.view, kept: look.kept }, true)}>
          Show all
        </button>
      )}
      {model.summary !== undefined && <MarkCounts summary={model.summary} />}
    </search>
  );
}
