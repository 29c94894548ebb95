import { readFileSync } from "node:fs";
import { normalizeEvent } from "@agent-lifecycle/proto";

export interface Sample {
  readonly in: { readonly text?: string; readonly details?: Readonly<Record<string, unknown>> };
  readonly mustNotContain?: readonly string[];
}

const corpus = JSON.parse(readFileSync(new URL("../../contract/redaction/corpus.json", import.meta.url), "utf8")) as {
  readonly secret: readonly Sample[];
};

/** Texts and details that hold a secret, with the strings that must not come out again. */
export const samples: readonly Sample[] = corpus.secret;

/** An event as a careless producer would send it: not redacted, possibly not even valid. */
export type RawEvent = Readonly<Record<string, unknown>>;

export const HARMLESS_ACTIVITY = "reads chapter seventeen";

export function rawEvent(childId: string, members: RawEvent): RawEvent {
  return {
    schemaVersion: 1,
    eventId: `${childId}/event`,
    source: "careless",
    sourceEpoch: "epoch-1",
    childId,
    lineage: { rootChildId: childId, attempt: 0, external: true, adoptedAt: "2026-09-01T09:00:00Z" },
    kind: "state_changed",
    state: "waiting",
    observedAt: "2026-09-01T09:00:00Z",
    activity: HARMLESS_ACTIVITY,
    capabilities: {},
    ...members,
  };
}

/** The sample in every place that takes text. */
export function eventsWith({ in: { text, details } }: Sample, childId: string): readonly RawEvent[] {
  if (text === undefined)
    return [rawEvent(childId, { details }), rawEvent(`${childId}/nested`, { details: { inner: [details] } })];
  return [
    rawEvent(`${childId}/activity`, { activity: text }),
    rawEvent(`${childId}/details`, {
      details: { note: text, list: [`before\n${text}\nafter`], inner: { name: text } },
    }),
    rawEvent(`${childId}/reserved`, {
      details: { name: text, tool: text, waitingOn: { kind: "user", text }, transcriptRef: text },
    }),
    rawEvent(`${childId}/event-id`, { eventId: text }),
    rawEvent(`${childId}/lineage`, {
      lineage: { rootChildId: text, parentChildId: text, attempt: 0, external: false },
    }),
    rawEvent(text, { source: text, sourceEpoch: text }),
    // What breaks the contract is refused, and what is said of it is redacted too.
    rawEvent(`${childId}/state`, { state: text, kind: text, observedAt: text }),
    { ...rawEvent(`${childId}/members`, {}), [text]: text, capabilities: { heartbeat: text } },
  ];
}

/**
 * Strings that no output may hold: what the corpus forbids, but for those that the harmless rest of another sample holds
 * as well. What that rest is, the corpus test says, of activity and details; all other places must do as well as those.
 */
export function forbiddenStrings(): readonly string[] {
  const redacted = samples.map(({ in: { text, details } }) => {
    const normalized = normalizeEvent(rawEvent("child", { activity: text, details }));
    if (!normalized.ok) throw new Error(JSON.stringify(normalized.diagnostic));
    return `${normalized.event.activity}\n${JSON.stringify(normalized.event.details)}`;
  });
  const rest = redacted.join("\n");
  const stated = new Set(samples.flatMap(({ mustNotContain = [] }) => mustNotContain));
  return [...stated].filter((text) => !rest.includes(text));
}

export function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Which of the strings an output holds, as they are or as JSON writes them. */
export function leaksIn(output: string, forbidden: readonly string[]): readonly string[] {
  return forbidden.filter((text) => output.includes(text) || output.includes(escaped(text)));
}
