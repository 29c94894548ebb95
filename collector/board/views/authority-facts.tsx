import type { AdapterView, AuthorityView, SourceView } from "@agent-lifecycle/proto";
import type { ComponentChildren, JSX } from "preact";
import { durationWords } from "../../src/display/child-words.ts";
import { offerWords } from "../../src/display/source-words.ts";
import { ageWords, clockWords } from "../parts/time-words.ts";

/** Who can be asked about the children of a source, and what observes it, as far as the collector says. */
export function AuthorityFacts({ source, now }: { readonly source: SourceView; readonly now: number }): JSX.Element {
  const { authority, adapter } = source;
  return (
    <>
      {authority === null ? (
        <Fact name="authority">nobody answers for it: silence is judged by heartbeats alone</Fact>
      ) : (
        <Authority authority={authority} now={now} />
      )}
      {adapter !== null && <Adapter adapter={adapter} now={now} />}
    </>
  );
}

function Authority({ authority, now }: { readonly authority: AuthorityView; readonly now: number }): JSX.Element {
  const { statement } = authority;
  return (
    <>
      <Fact name="authority">
        {authority.id} <span class="tag">{authority.supportLevel}</span>
      </Fact>
      <Fact name="answers">
        {authority.answers} answers, {authority.failures} failures
        {authority.failuresInARow > 0 && (
          <span class="is-stale">
            {" "}
            · {authority.failuresInARow} in a row: {authority.lastFailure ?? "not said why"}
          </span>
        )}
      </Fact>
      <Fact name="next">{nextWords(authority, now)}</Fact>
      <Fact name="last snapshot">
        {statement === null
          ? "none yet"
          : `${ageWords(statement.observedAt, now)} ago by its clock: ${statement.listed} listed, ${statement.covered === null ? "speaks for all" : `speaks for ${statement.covered}`}${statement.complete ? "" : ", not complete: its silence says nothing"}`}
      </Fact>
    </>
  );
}

function nextWords({ inFlightSince, nextDueAt }: AuthorityView, now: number): string {
  if (inFlightSince !== null) return `asked ${ageWords(inFlightSince, now)} ago`;
  if (nextDueAt === null) return "not planned";
  const inMs = Date.parse(nextDueAt) - now;
  return inMs >= 0 ? `due in ${durationWords(inMs)}` : `overdue for ${durationWords(-inMs)}`;
}

function Adapter({ adapter, now }: { readonly adapter: AdapterView; readonly now: number }): JSX.Element {
  const { state, since, lastEnd } = adapter.connection;
  const isUp = state === "connected";
  return (
    <>
      <Fact name="observed at">{adapter.address}</Fact>
      <Fact name="connection">
        <span class={isUp ? "" : "is-stale"}>
          {state}
          {since !== null && ` for ${ageWords(since, now)}`}
        </span>
        {!isUp && lastEnd !== null && ` · ended ${clockWords(lastEnd.at)}: ${lastEnd.text}`}
      </Fact>
      <Fact name="what it offers">{offerWords(adapter)}</Fact>
      {adapter.lastFailure !== null && (
        <Fact name="a look that failed">
          {clockWords(adapter.lastFailure.at)}: {adapter.lastFailure.text}
        </Fact>
      )}
      <Fact name="seen there">
        {adapter.runningChildren} running, {adapter.attachedSessions} attached sessions
      </Fact>
      <Fact name="told">
        {adapter.eventsStored} events, {adapter.snapshotsStored} snapshots
        {adapter.eventsRefused > 0 && `, ${adapter.eventsRefused} events refused`}
      </Fact>
    </>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
