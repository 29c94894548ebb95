import type { JSX } from "preact";
import { KEPT_CHOICES } from "../model/address.ts";
import type { Row } from "../model/board-model.ts";
import { groupRows } from "../model/now-groups.ts";
import { useLook, useModel } from "../model/use-board.ts";
import { ChildCells } from "../parts/child-row.tsx";
import { HEADING_HEIGHT, rowHeight, useNarrow } from "../parts/use-narrow.ts";
import { type GridItem, VirtualGrid } from "../parts/virtual-grid.tsx";

const KEPT_WORDS: Readonly<Record<(typeof KEPT_CHOICES)[number], string>> = {
  "300": "5 minutes",
  "3600": "1 hour",
  "86400": "1 day",
  all: "always",
};

/** What needs a person, then what runs, then what is over. */
export function NowView(): JSX.Element {
  const model = useModel();
  const { look, go } = useLook();
  const isNarrow = useNarrow();
  const { now } = model;
  const groups = groupRows(model.rows, look, now);
  const heading = (key: string, title: string, rows: readonly Row[], empty: string): GridItem => ({
    key,
    height: HEADING_HEIGHT,
    isHeading: true,
    draw: () => (
      <div role="gridcell" class="group-title" id={`group-${key}`}>
        <h2>{title}</h2>
        <span class="count">{rows.length}</span>
        {rows.length === 0 && <span class="quiet">{empty}</span>}
      </div>
    ),
  });
  const itemOf = (row: Row): GridItem => ({
    key: row.key,
    height: rowHeight(isNarrow),
    className: `child state-${row.child.state}`,
    draw: () => <ChildCells child={row.child} now={now} />,
  });
  const items: readonly GridItem[] = [
    heading(
      "attention",
      "Needs attention",
      groups.attention,
      "nothing waits for a person, is stale, or has failed lately",
    ),
    ...groups.attention.map(itemOf),
    heading("running", "Going on", groups.running, "no child is created, starting, running or waiting"),
    ...groups.running.map(itemOf),
    heading("finished", "Finished", groups.finished, "nothing has ended lately"),
    ...groups.finished.map(itemOf),
  ];
  const open = (key: string): void => {
    const child = model.find(key);
    if (child !== undefined) go({ child });
  };
  const notListed = Math.max(0, (model.summary?.started ?? 0) - model.rows.length);
  return (
    <section class="view" aria-label="Now">
      <p class="ledger">
        <span>
          {groups.attention.length + groups.running.length + groups.finished.length} shown
          {groups.filtered > 0 && ` + ${groups.filtered} not matching`}
          {groups.folded > 0 && ` + ${groups.folded} ended earlier`}
          {notListed > 0 && ` + ${notListed} older, not listed`}
          {` = ${model.summary?.started ?? 0} started`}
        </span>
        <label>
          Keep finished for{" "}
          <select
            value={look.kept}
            onChange={({ currentTarget }) =>
              go({ kept: KEPT_CHOICES.find((kept) => kept === currentTarget.value) ?? "3600" }, true)
            }
          >
            {KEPT_CHOICES.map((kept) => (
              <option key={kept} value={kept}>
                {KEPT_WORDS[kept]}
              </option>
            ))}
          </select>
        </label>
      </p>
      <VirtualGrid id="children" label="Children" role="grid" items={items} onOpen={open} />
    </section>
  );
}
