import type { AuditView, ChildView, InputView } from "@agent-lifecycle/proto";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { childKey, hasEnded } from "../../src/display/child-key.ts";
import {
  adoptedWords,
  CAPABILITY_WORDS,
  cancelWords,
  durationWords,
  endWords,
  lateWords,
  provisionalWords,
  staleWords,
  waitingWords,
} from "../../src/display/child-words.ts";
import { evidenceWords } from "../../src/display/source-words.ts";
import { usageOf } from "../../src/display/usage-rollup.ts";
import { useBoard, useLoaded, useLook, useModel } from "../model/use-board.ts";
import { CancelButton } from "../parts/cancel-button.tsx";
import { ChildLink } from "../parts/child-link.tsx";
import { Copy } from "../parts/copy.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { clockWords } from "../parts/time-words.ts";
import { EventLog } from "./event-log.tsx";
import { usageWords } from "./tree-view.tsx";

interface Evidence {
  readonly child: ChildView;
  readonly inputs: readonly InputView[];
  readonly isCut: boolean;
  readonly audit: readonly AuditView[];
}

const MAX_INPUTS = 1_000;

/** Everything about one child, and how we know. */
export function ChildPage({ source, childId }: { readonly source: string; readonly childId: string }): JSX.Element {
  const model = useModel();
  const {
    model: { client },
  } = useBoard();
  const { go } = useLook();
  const known = model.find(childKey({ source, childId }));
  const title = useRef<HTMLHeadingElement>(null);
  const loaded = useLoaded<Evidence>(childKey({ source, childId }), known, async () => {
    const name = { source, childId };
    const [child, events, audit] = await Promise.all([
      client.getChild(name),
      client.listChildEvents(name, { limit: MAX_INPUTS }),
      client.listChildAudit(name, { limit: MAX_INPUTS }),
    ]);
    return { child, inputs: events.inputs, isCut: events.nextCursor !== null, audit: audit.audit };
  });
  const evidence = loaded.kind === "loading" ? undefined : loaded.value;
  const child = known ?? evidence?.child;
  useEffect(() => title.current?.focus(), [source, childId]);
  return (
    <article class="view child-page" aria-label="Child">
      <p class="ledger">
        <button type="button" onClick={() => go({ child: undefined })}>
          ← Back
        </button>
        <span class="quiet">Esc goes back, too</span>
      </p>
      <header class="child-head">
        <h2 ref={title} tabIndex={-1}>
          {child?.facts.name ?? childId}
        </h2>
        {child !== undefined && <StateMark state={child.state} />}
        {child !== undefined && <CancelButton child={child} />}
      </header>
      {child === undefined ? (
        <p class="nothing">{loaded.kind === "failed" ? `Nothing is known: ${loaded.reason}` : "Loading…"}</p>
      ) : (
        <Facts child={child} now={model.now} isFrozen={model.isFrozen} />
      )}
      {evidence !== undefined && (
        <>
          <Corrections audit={evidence.audit} />
          <EventLog inputs={evidence.inputs} isCut={evidence.isCut} />
        </>
      )}
    </article>
  );
}

interface FactsProps {
  readonly child: ChildView;
  readonly now: number;
  readonly isFrozen: boolean;
}

function Facts({ child, now, isFrozen }: FactsProps): JSX.Element {
  const { facts, lineage } = child;
  const age = (timestamp: string): string =>
    `${durationWords(now - Date.parse(timestamp))} ago (${clockWords(timestamp)})`;
  const warnings = [
    ["stale", staleWords(child, clockWords)],
    ["late", lateWords(child, clockWords)],
    ["cancel", cancelWords(child, clockWords)],
    ["provisional", provisionalWords(child)],
  ].filter(([, words]) => words !== "");
  const usage = usageWords(usageOf(child));
  return (
    <>
      {warnings.length > 0 && (
        <ul class="warnings">
          {warnings.map(([kind, words]) => (
            <li key={kind} class={`mark mark-${kind}`}>
              {words}
            </li>
          ))}
        </ul>
      )}
      <div class="panels">
        <Panel title="State">
          <Fact name="state">
            {child.state ?? "unknown"}
            {child.stateInferred && ", implied by its source and not reported"}
          </Fact>
          <Fact name="rests on">{evidenceWords(child) || "nothing yet"}</Fact>
          <Fact name="since">{child.stateAt === null ? "unknown" : age(child.stateAt)}</Fact>
          {hasEnded(child) ? (
            <Fact name="how it ended">{endWords(child) || "no cause stated, none needed"}</Fact>
          ) : (
            <>
              <Fact name="activity">{child.activity ?? "unknown"}</Fact>
              <Fact name="tool">{facts.tool ?? "unknown"}</Fact>
              {child.state === "waiting" && (
                <Fact name="waits on">{waitingWords(child).replace("waits on ", "") || "unknown"}</Fact>
              )}
            </>
          )}
        </Panel>
        <Panel title={isFrozen ? "Freshness (clocks stand still)" : "Freshness"}>
          <Fact name="alive">heard of {age(child.lastEvidenceAt)}</Fact>
          <Fact name="progress">{age(child.lastProgressAt)}</Fact>
          <Fact name="heartbeat">{child.heartbeatAt === null ? "none was heard" : age(child.heartbeatAt)}</Fact>
          <Fact name="misses">{child.misses === 0 ? "none" : `${child.misses} complete snapshots in a row`}</Fact>
          {child.reconciliation !== null && (
            <Fact name="asked">answer awaited until {clockWords(child.reconciliation.deadline)}</Fact>
          )}
        </Panel>
        <Panel title="Identity">
          <Fact name="child id">
            <Copy text={child.childId} />
          </Fact>
          <Fact name="source">
            <Copy text={child.source} />
          </Fact>
          <Fact name="epoch">
            <Copy text={child.sourceEpoch} />
          </Fact>
          <Fact name="sequence">{child.highestSequence === null ? "none" : `up to ${child.highestSequence}`}</Fact>
          {facts.agentType !== undefined && <Fact name="agent type">{facts.agentType}</Fact>}
          {facts.model !== undefined && <Fact name="model">{facts.model}</Fact>}
          {facts.pid !== undefined && (
            <Fact name="process">{`${facts.pid}${facts.host === undefined ? "" : ` on ${facts.host}`}`}</Fact>
          )}
        </Panel>
        <Panel title="Lineage">
          <Fact name="root">
            <ChildLink source={child.source} childId={lineage.rootChildId}>
              {lineage.rootChildId}
            </ChildLink>
          </Fact>
          <Fact name="parent">
            {lineage.parentChildId === undefined ? (
              "none stated"
            ) : (
              <ChildLink source={child.source} childId={lineage.parentChildId}>
                {lineage.parentChildId}
              </ChildLink>
            )}
          </Fact>
          <Fact name="attempt">{lineage.attempt + 1}</Fact>
          <Fact name="history">{HISTORY_WORDS[child.history]}</Fact>
          {lineage.external && <Fact name="adopted">{adoptedWords(child, clockWords)}</Fact>}
        </Panel>
        <Panel title="Capabilities">
          {Object.entries(CAPABILITY_WORDS).map(([name, words]) => (
            <Fact key={name} name={words}>
              <span class={`knowledge-${child.capabilities[name as keyof typeof child.capabilities]}`}>
                {child.capabilities[name as keyof typeof child.capabilities]}
              </span>
            </Fact>
          ))}
        </Panel>
        <Panel title="References and usage">
          <Fact name="transcript">
            {facts.transcriptRef === undefined ? "none stated" : <Copy text={facts.transcriptRef} />}
          </Fact>
          <Fact name="result">{facts.resultRef === undefined ? "none stated" : <Copy text={facts.resultRef} />}</Fact>
          <Fact name="usage">{usage === "" ? "not reported" : usage}</Fact>
          <Fact name="conflicts">{child.conflicts}</Fact>
          <Fact name="corrections">{child.corrections}</Fact>
          <Fact name="out of order">{child.outOfOrder}</Fact>
        </Panel>
      </div>
    </>
  );
}

const HISTORY_WORDS: Readonly<Record<ChildView["history"], string>> = {
  complete: "complete",
  from_adoption: "from its adoption on",
  partial: "partial: its beginning was not seen",
};

function Panel({ title, children }: { readonly title: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <section class="panel">
      <h3>{title}</h3>
      <dl>{children}</dl>
    </section>
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

const REASON_WORDS: Readonly<Record<AuditView["reason"], string>> = {
  authoritative_snapshot: "an authoritative snapshot said so",
  failed_reconciliation: "it could not be accounted for by its deadline",
  epoch_changed: "its source began to number anew",
};

function Corrections({ audit }: { readonly audit: readonly AuditView[] }): JSX.Element | null {
  if (audit.length === 0) return null;
  return (
    <section class="log">
      <h3>Corrections</h3>
      <ul>
        {audit.map(({ inputId, reason, from, to, at, snapshotId }) => (
          <li key={`${inputId}/${reason}/${to}`}>
            <time dateTime={at}>{clockWords(at)}</time> {from ?? "unknown"} → {to}: {REASON_WORDS[reason]}
            {snapshotId === null ? "" : ` (${snapshotId})`}
          </li>
        ))}
      </ul>
    </section>
  );
}
