import { describe, expect, onTestFinished, test } from "vitest";
import { closedPort } from "../../../kit/closed-port.ts";
import { makeSnapshot } from "../../../kit/events.ts";
import { type OrchestratorServer, startOrchestratorServer } from "../../../kit/orchestrator-server.ts";
import { START_MS } from "../../../kit/start-time.ts";
import { startTestCollector } from "../collector-fixture.ts";
import { examined, NOW, type StatedConfiguration } from "./examination.ts";

const NOW_AFTER_START = NOW - START_MS;

async function server(): Promise<OrchestratorServer> {
  const started = await startOrchestratorServer();
  onTestFinished(() => started.close());
  return started;
}

async function authorities(stated: StatedConfiguration): Promise<readonly object[]> {
  const findings = await examined(stated);
  return findings.filter(({ check }) => check === "authority").map(({ level, text }) => ({ level, text }));
}

function asked(url: string, members: object = {}): StatedConfiguration {
  return { snapshotSources: { "http/one": { source: "runner", url, ...members } } };
}

describe("an authority that is asked over HTTP", () => {
  test("is asked once, as the collector would", async () => {
    const orchestrator = await server();
    orchestrator.state(makeSnapshot({ at: NOW_AFTER_START, children: [{ childId: "a" }, { childId: "b" }] }));
    expect(await authorities(asked(orchestrator.url, { token: "some-token" }))).toEqual([
      { level: "ok", text: "http/one answers for runner with 2 children" },
    ]);
    expect(orchestrator.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer some-token"]);
  });

  test.each([
    ["of another source", { source: "other" }, "problem", "http/one answers for another source than runner"],
    [
      "that is not complete",
      { complete: false },
      "warning",
      "http/one answers, and says that its view is not complete",
    ],
    [
      "that is old",
      { at: NOW_AFTER_START - 3_600_000 },
      "warning",
      "http/one answers with a view that is 3600000 ms old by the clock here",
    ],
  ])("is told of when it gives a view %s", async (_name, members, level, text) => {
    const orchestrator = await server();
    orchestrator.state(makeSnapshot({ at: NOW_AFTER_START, ...members }));
    const [finding] = await authorities(asked(orchestrator.url));
    expect(finding).toMatchObject({ level });
    expect(finding).toMatchObject({ text: expect.stringMatching(new RegExp(text.replace("3600000", "3\\d{6}"))) });
  });

  test("is a problem when it is not there, refuses, or says something else", async () => {
    const port = await closedPort();
    expect(await authorities(asked(`http://127.0.0.1:${port}/`))).toEqual([
      { level: "problem", text: `http/one does not answer: connect ECONNREFUSED 127.0.0.1:${port}` },
    ]);
    const orchestrator = await server();
    orchestrator.answer = (_request, response) => void response.writeHead(403).end();
    expect(await authorities(asked(orchestrator.url))).toEqual([
      { level: "problem", text: "http/one does not answer: it refuses the credentials (403)" },
    ]);
    orchestrator.answer = (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end('{"source":"runner"}');
    };
    const [finding] = await authorities(asked(orchestrator.url));
    expect(finding).toMatchObject({ level: "problem", text: expect.stringContaining("with what is no snapshot") });
  });

  test("is given up after its timeout", async () => {
    const orchestrator = await server();
    orchestrator.answer = () => {};
    expect(await authorities(asked(orchestrator.url, { timeoutMs: 50 }))).toEqual([
      { level: "problem", text: "http/one does not answer: no answer within 50 ms" },
    ]);
  });
});

describe("with a collector that runs", () => {
  test("an authority that has pushed nothing is a problem, and one that it does not know is told of", async () => {
    const snapshotSources = { "push/one": { source: "runner" } };
    const { apiUrl } = await startTestCollector({ snapshotSources });
    const api = { endpoint: { host: "127.0.0.1", port: Number(new URL(apiUrl).port) } };
    expect(await authorities({ api, snapshotSources })).toEqual([
      { level: "problem", text: "push/one has pushed nothing yet" },
    ]);
    expect(await authorities({ api, snapshotSources: { "push/two": { source: "runner" } } })).toEqual([
      { level: "warning", text: "the collector that runs knows nothing of push/two" },
    ]);
  });
});

test("an authority that pushes is expected, where no collector runs", async () => {
  expect(await authorities({ snapshotSources: { "push/one": { source: "runner" } } })).toEqual([
    { level: "ok", text: "push/one is to push every 10000 ms, once a collector runs" },
  ]);
});
