import type { AdapterView, AuthorityView, SourceView } from "@agent-lifecycle/proto";
import type { JSX } from "preact";
import { durationWords } from "../../src/display/child-words.ts";
import { authorityWords, connectionWords, offerWords } from "../../src/display/source-words.ts";
import { ageWords, clockWords } from "../parts/time-words.ts";

interface AuthorityFactsProps {
  readonly source: SourceView;
  readonly now: number;
}

/** Who can be asked about the children of a source, and what observes them, as far as the collector says. */
export function AuthorityFacts({ source: { authority, adapter }, now }: AuthorityFactsProps): JSX.Element {
  return (
    <>
      <Fact name="authority" value={authorityWords(authority, clockWords)} />
      {authority !== null && (
        <>
          <Fact name="next question" value={nextWords(authority, now)} />
          <Fact name="last snapshot" value={statementWords(authority, now)} />
        </>
      )}
      {adapter !== null && <AdapterFacts adapter={adapter} />}
    </>
  );
}

function AdapterFacts({ adapter }: { readonly adapter: AdapterView }): JSX.Element {
  const { runningChildren, attachedSessions, lastFailure } = adapter;
  return (
    <>
      <Fact name="connection" value={connectionWords(adapter, clockWords)} />
      <Fact name="what it offers" value={offerWords(adapter)} />
      <Fact name="seen there" value={`${runningChildren} running, ${attachedSessions} attached sessions`} />
      {lastFailure !== null && (
        <Fact name="a look that failed" value={`${clockWords(lastFailure.at)}: ${lastFailure.text}`} />
      )}
    </>
  );
}

function nextWords({ inFlightSince, nextDueAt }: AuthorityView, now: number): string {
  if (inFlightSince !== null) return `asked ${ageWords(inFlightSince, now)} ago`;
  if (nextDueAt === null) return "not planned";
  const inMs = Date.parse(nextDueAt) - now;
  return inMs >= 0 ? `due in ${durationWords(inMs)}` : `overdue for ${durationWords(-inMs)}`;
}

function statementWords({ statement }: AuthorityView, now: number): string {
  if (statement === null) return "none yet";
  const { observedAt, listed, covered, complete } = statement;
  const parts = [
    `${ageWords(observedAt, now)} ago by its clock`,
    `${listed} listed`,
    covered === null ? "speaks for all" : `speaks for ${covered}`,
    ...(complete ? [] : ["not complete: its silence says nothing"]),
  ];
  return parts.join(", ");
}

function Fact({ name, value }: { readonly name: string; readonly value: string }): JSX.Element {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
