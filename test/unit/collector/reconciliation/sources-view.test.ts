import type { AskedSource } from "@agent-lifecycle/collector";
import type { SourcesView, SummaryView } from "@agent-lifecycle/proto";
import { expect, test } from "vitest";
import { makeSnapshot } from "../../../kit/events.ts";
import { getJson, startTestCollector } from "../collector-fixture.ts";

const clock = { wallNow: () => Date.now(), monotonicNow: () => performance.now() };
const SNAPSHOT = makeSnapshot({ source: "orchestrator", children: [{ childId: "a" }, { childId: "b" }] });

/** An authority that resolves `asked` with the second question: then the first answer is stored. */
function answering(): { readonly source: AskedSource; readonly asked: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let questions = 0;
  const fetch = async (): Promise<unknown> => {
    questions += 1;
    if (questions > 1) resolve();
    return JSON.parse(JSON.stringify({ ...SNAPSHOT, snapshotId: `answer ${questions}` })) as unknown;
  };
  const snapshotSource = { source: "orchestrator", start: async () => {}, shutdown: async () => {}, fetch };
  const policy = { intervalMs: 1, pauseMs: 1, retryMs: 1, maxRetryMs: 1 };
  return {
    source: { id: "host/one", kind: "host", supportLevel: "experimental", snapshotSource, policy },
    asked: promise,
  };
}

test("a source tells its authority, what that said last, and how asking goes; its answers are metrics too", async () => {
  const { source, asked } = answering();
  const { apiUrl } = await startTestCollector({}, { askedSources: [source], clock });
  await asked;
  const { sources } = await getJson<SourcesView>(`${apiUrl}/api/v1/sources`);
  expect(sources).toMatchObject([
    {
      source: "orchestrator",
      children: 2,
      authority: {
        id: "host/one",
        kind: "host",
        supportLevel: "experimental",
        failures: 0,
        failuresInARow: 0,
        lastFailure: null,
        statement: {
          sourceEpoch: "epoch-1",
          complete: true,
          covered: null,
          listed: 2,
          observedAt: SNAPSHOT.observedAt,
        },
      },
    },
  ]);
  expect(sources[0]?.authority?.answers).toBeGreaterThan(0);
  const metrics = await (await fetch(`${apiUrl}/metrics`)).text();
  expect(metrics).toMatch(
    /^agent_lifecycle_authority_answers_total\{authority="host\/one",outcome="answered"\} [1-9]/m,
  );
  expect(metrics).toMatch(/^agent_lifecycle_authority_failures_in_a_row\{authority="host\/one"\} 0$/m);
  expect(metrics).toMatch(/^agent_lifecycle_authority_last_answer_timestamp_seconds\{authority="host\/one"\} \d/m);
});

test("an authority that has answered is evidence, also where it has no children (D2)", async () => {
  const { source, asked } = answering();
  const empty = {
    ...source.snapshotSource,
    source: "empty",
    fetch: async () => ({ ...SNAPSHOT, source: "empty", children: [] }),
  };
  const { apiUrl } = await startTestCollector(
    {},
    { askedSources: [source, { ...source, id: "host/two", snapshotSource: empty }], clock },
  );
  await asked;
  expect(await getJson<SummaryView>(`${apiUrl}/api/v1/summary`)).toMatchObject({ evidenceSeen: true });
});

test("two authorities of one source are refused at the start", async () => {
  const { source } = answering();
  await expect(startTestCollector({}, { askedSources: [source, { ...source, id: "host/two" }] })).rejects.toThrow(
    "host/one and host/two would both be the authority of the source orchestrator",
  );
});
