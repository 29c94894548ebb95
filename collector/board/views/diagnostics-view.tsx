import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useBoard, useLoaded, useModel } from "../model/use-board.ts";
import { ChildLink } from "../parts/child-link.tsx";
import { clockWords } from "../parts/time-words.ts";

const PAGE = 200;
const REST_MS = 2_000;
/** What is rejected at the door moves no position: it is looked for at this pace, too. */
const LOOK_MS = 5_000;

/** What was rejected or tolerated, and why. */
export function DiagnosticsView(): JSX.Element {
  const model = useModel();
  const {
    model: { client },
  } = useBoard();
  const [code, setCode] = useState("");
  const [cursor, setCursor] = useState("");
  const look = model.isFrozen ? "frozen" : Math.floor(model.now / LOOK_MS);
  const loaded = useLoaded(
    `${code}/${cursor}`,
    cursor === "" ? look : "",
    () => client.listDiagnostics({ limit: PAGE, ...(code && { code }), ...(cursor && { cursor }) }),
    REST_MS,
  );
  const page = loaded.kind === "loading" ? undefined : loaded.value;
  const codes = [
    ...new Set([...(page?.diagnostics.map((diagnostic) => diagnostic.code) ?? []), ...(code === "" ? [] : [code])]),
  ];
  const unknown = model.summary?.stateUnknown ?? 0;
  return (
    <section class="view scrolls" aria-label="Diagnostics">
      <p class="ledger">
        <label>
          Rule{" "}
          <select
            value={code}
            onChange={({ currentTarget }) => {
              setCode(currentTarget.value);
              setCursor("");
            }}
          >
            <option value="">all</option>
            {codes.toSorted().map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <span class="ledger-actions">
          {cursor !== "" && (
            <button type="button" onClick={() => setCursor("")}>
              Newest
            </button>
          )}
          {typeof page?.nextCursor === "string" && (
            <button type="button" onClick={() => setCursor(page.nextCursor ?? "")}>
              Older
            </button>
          )}
        </span>
      </p>
      {unknown > 0 && (
        <p class="note">
          {unknown} {unknown === 1 ? "child was" : "children were"} heard of without any state. None is guessed: no row
          until a state arrives.
        </p>
      )}
      {loaded.kind === "failed" && <p class="nothing">The diagnostics cannot be read: {loaded.reason}</p>}
      {page !== undefined && page.diagnostics.length === 0 && (
        <p class="nothing">Nothing was rejected or tolerated{code === "" ? "" : ` by ${code}`}.</p>
      )}
      {page !== undefined && page.diagnostics.length > 0 && (
        <div class="table-port" tabIndex={0} role="region" aria-label="What was rejected or tolerated">
          <table>
            <thead>
              <tr>
                <th scope="col">when</th>
                <th scope="col">rule</th>
                <th scope="col">what</th>
                <th scope="col">child</th>
                <th scope="col">receiver</th>
              </tr>
            </thead>
            <tbody>
              {page.diagnostics.map((diagnostic) => (
                <tr key={diagnostic.id}>
                  <td>
                    <time dateTime={diagnostic.at}>{clockWords(diagnostic.at)}</time>
                  </td>
                  <td>
                    <code>{diagnostic.code}</code>
                  </td>
                  <td>
                    {diagnostic.path !== undefined && <code>{diagnostic.path} </code>}
                    {diagnostic.text}
                  </td>
                  <td>
                    {diagnostic.source !== null && diagnostic.childId !== null ? (
                      <ChildLink source={diagnostic.source} childId={diagnostic.childId}>
                        {diagnostic.childId}
                      </ChildLink>
                    ) : (
                      (diagnostic.source ?? "not told")
                    )}
                  </td>
                  <td>{diagnostic.receiver}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
