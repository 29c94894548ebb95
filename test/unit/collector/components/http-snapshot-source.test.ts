import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createHttpSnapshotSource, type HttpSnapshotSourceOptions } from "@agent-lifecycle/collector/parts";
import { describe, expect, onTestFinished, test } from "vitest";
import { type CertificateAuthority, createCertificateAuthority } from "../../../kit/certificates.ts";
import { closedPort } from "../../../kit/closed-port.ts";
import { describeSnapshotSource } from "../../../kit/component-suite.ts";
import { temporaryDirectory } from "../../../kit/event-file.ts";
import { makeSnapshot } from "../../../kit/events.ts";
import { type Answer, type OrchestratorServer, startOrchestratorServer } from "../../../kit/orchestrator-server.ts";

const MAX_ANSWER_BYTES = 64 * 1024;
const never = new AbortController().signal;

async function server(tls?: Parameters<typeof startOrchestratorServer>[0]): Promise<OrchestratorServer> {
  const started = await startOrchestratorServer(tls);
  onTestFinished(() => started.close());
  return started;
}

type Members = Partial<HttpSnapshotSourceOptions>;

function ask(url: string, members: Members = {}, signal: AbortSignal = never): Promise<unknown> {
  return createHttpSnapshotSource({ source: "runner", url, maxAnswerBytes: MAX_ANSWER_BYTES, ...members }).fetch(
    signal,
  );
}

describeSnapshotSource("the snapshot source http", {
  create: async ({ source }) => {
    const orchestrator = await startOrchestratorServer();
    let looks = 0;
    const setChildren = async (childIds: readonly string[]): Promise<void> => {
      looks += 1;
      const children = childIds.map((childId) => ({ childId }));
      orchestrator.state(makeSnapshot({ source, at: looks, snapshotId: `look ${looks}`, children }));
    };
    await setChildren([]);
    return {
      component: createHttpSnapshotSource({ source, url: orchestrator.url, maxAnswerBytes: MAX_ANSWER_BYTES }),
      setChildren,
      breakDown: () => orchestrator.close(),
      dispose: () => orchestrator.close().catch(() => {}),
    };
  },
  createUnable: async ({ source }) => ({
    component: createHttpSnapshotSource({
      source,
      url: "http://127.0.0.1:1",
      tokenFile: "/does/not/exist",
      maxAnswerBytes: MAX_ANSWER_BYTES,
    }),
  }),
});

describe("what is asked", () => {
  test("says who asks, what is expected, and nothing of the last answer at first", async () => {
    const orchestrator = await server();
    orchestrator.state(makeSnapshot({}));
    await ask(`${orchestrator.url}?source=runner`, { token: "some-token" });
    const [request] = orchestrator.requests;
    expect(request?.url).toBe("/children?source=runner");
    expect(request?.headers).toMatchObject({
      accept: "application/json",
      "accept-encoding": "identity",
      authorization: "Bearer some-token",
    });
    expect(request?.headers["if-none-match"]).toBeUndefined();
  });

  test("carries the token that its file holds now", async () => {
    const orchestrator = await server();
    orchestrator.state(makeSnapshot({}));
    const tokenFile = join(temporaryDirectory(), "token");
    const source = createHttpSnapshotSource({
      source: "runner",
      url: orchestrator.url,
      tokenFile,
      maxAnswerBytes: MAX_ANSWER_BYTES,
    });
    for (const token of ["first-token", "second-token"]) {
      writeFileSync(tokenFile, `${token}\n`);
      await source.fetch(never);
    }
    const sent = orchestrator.requests.map(({ headers }) => headers.authorization);
    expect(sent).toEqual(["Bearer first-token", "Bearer second-token"]);
  });
});

describe("an unchanged answer", () => {
  test("is the last one again, with the time at which the authority looked", async () => {
    const orchestrator = await server();
    orchestrator.state(makeSnapshot({ at: 5, children: [{ childId: "a" }] }));
    const source = createHttpSnapshotSource({
      source: "runner",
      url: orchestrator.url,
      maxAnswerBytes: MAX_ANSWER_BYTES,
    });
    const first = await source.fetch(never);
    const second = await source.fetch(never);
    expect(orchestrator.requests[1]?.headers["if-none-match"]).toBe('"1"');
    expect(second).toEqual(first);
    orchestrator.state(makeSnapshot({ at: 6, children: [] }));
    expect(await source.fetch(never)).toMatchObject({ snapshotId: "snapshot at 6", children: [] });
  });

  test("is no answer when there was none before", async () => {
    const orchestrator = await server();
    orchestrator.answer = (_request, response) => void response.writeHead(304).end();
    await expect(ask(orchestrator.url)).rejects.toThrow("it sends elsewhere (304), which is not followed");
  });

  test("is asked for only after an answer that could be read", async () => {
    const orchestrator = await server();
    const source = createHttpSnapshotSource({
      source: "runner",
      url: orchestrator.url,
      maxAnswerBytes: MAX_ANSWER_BYTES,
    });
    orchestrator.answer = (_request, response) => {
      response.writeHead(200, { "content-type": "application/json", etag: '"broken"' }).end('{"source":');
    };
    await expect(source.fetch(never)).rejects.toThrow("its answer cannot be read: the body is no JSON");
    orchestrator.answer = undefined;
    orchestrator.state(makeSnapshot({}));
    await source.fetch(never);
    expect(orchestrator.requests[1]?.headers["if-none-match"]).toBeUndefined();
  });
});

describe("what is no answer", () => {
  const json = { "content-type": "application/json" };
  const cases: readonly (readonly [string, Answer, string])[] = [
    ["refused credentials", (_, response) => void response.writeHead(401).end(), "it refuses the credentials (401)"],
    ["a refusal", (_, response) => void response.writeHead(403).end(), "it refuses the credentials (403)"],
    ["a fault", (_, response) => void response.writeHead(500, json).end("{}"), "it answers with status 500"],
    ["nothing there", (_, response) => void response.writeHead(204).end(), "it answers with status 204"],
    [
      "a redirect",
      (_, response) => void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
      "it sends elsewhere (302), which is not followed",
    ],
    [
      "a page",
      (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>"),
      "it answers with text/html, not application/json",
    ],
    ["no type", (_, response) => void response.writeHead(200).end("{}"), "it answers with no content type"],
    [
      "something compressed",
      (_, response) => void response.writeHead(200, { ...json, "content-encoding": "gzip" }).end("{}"),
      "its answer is compressed, which was not asked for",
    ],
    [
      "too much",
      (_, response) => void response.writeHead(200, json).end(JSON.stringify("x".repeat(MAX_ANSWER_BYTES))),
      `its answer is longer than ${MAX_ANSWER_BYTES} bytes`,
    ],
    [
      "something nested without end",
      (_, response) => void response.writeHead(200, json).end("[".repeat(1_000)),
      "its answer cannot be read: the JSON is nested more than 128 levels deep",
    ],
    [
      "half of an answer",
      (_, response) => {
        response.writeHead(200, { ...json, "content-length": "100" });
        response.write("{", () => response.destroy());
      },
      "aborted",
    ],
    ["a connection that closes", (_, response) => void response.destroy(), "socket hang up"],
    ["no HTTP", (_, response) => void response.socket?.end("SSH-2.0-x\r\n"), "Parse Error"],
  ];

  test.each(cases)("%s", async (_name, answer, text) => {
    const orchestrator = await server();
    orchestrator.answer = answer;
    await expect(ask(orchestrator.url)).rejects.toThrow(text);
  });

  test("a redirect is not followed, and no token goes there", async () => {
    const [orchestrator, elsewhere] = [await server(), await server()];
    orchestrator.answer = (_, response) => void response.writeHead(307, { location: elsewhere.url }).end();
    await expect(ask(orchestrator.url, { token: "some-token" })).rejects.toThrow("it sends elsewhere (307)");
    expect(elsewhere.requests).toEqual([]);
  });

  test("an endless answer is cut off", async () => {
    const orchestrator = await server();
    orchestrator.answer = (_, response) => {
      response.writeHead(200, json);
      const more = (error?: Error | null): void => {
        if (!error && !response.destroyed) response.write(" ".repeat(16_384), more);
      };
      more();
    };
    await expect(ask(orchestrator.url)).rejects.toThrow(`its answer is longer than ${MAX_ANSWER_BYTES} bytes`);
  });

  test("an answer that trickles is given up with the question", async () => {
    const orchestrator = await server();
    const stop = new AbortController();
    orchestrator.answer = (_, response) => {
      response.writeHead(200, json);
      response.write("{", () => stop.abort());
    };
    const ended = orchestrator.nextRequest();
    await expect(ask(orchestrator.url, {}, stop.signal)).rejects.toThrow();
    await ended;
  });

  test("nobody at all", async () => {
    const port = await closedPort();
    await expect(ask(`http://127.0.0.1:${port}/`)).rejects.toThrow("ECONNREFUSED");
    await expect(ask(`http://localhost:${port}/`)).rejects.toThrow("ECONNREFUSED");
  });
});

describe("over TLS", () => {
  const folder = (): string => temporaryDirectory();

  function file(name: string, text: string): string {
    const path = join(folder(), name);
    writeFileSync(path, text);
    return path;
  }

  async function tlsServer(authority: CertificateAuthority, asksClients = false): Promise<OrchestratorServer> {
    const { certificate, privateKey } = await authority.issue({ subject: "CN=orchestrator", usage: "server" });
    const clients = asksClients ? { ca: authority.certificate, requestCert: true, rejectUnauthorized: true } : {};
    const orchestrator = await server({ cert: certificate, key: privateKey, ...clients });
    orchestrator.state(makeSnapshot({}));
    return orchestrator;
  }

  test("only who shows a certificate of a trusted authority is believed", async () => {
    const authority = await createCertificateAuthority();
    const { url } = await tlsServer(authority);
    await expect(ask(url)).rejects.toThrow(/certificate/);
    const other = await createCertificateAuthority("Another Authority");
    await expect(ask(url, { tls: { caFile: file("ca.pem", other.certificate) } })).rejects.toThrow(/certificate/);
    const answer = await ask(url, { tls: { caFile: file("ca.pem", authority.certificate) } });
    expect(answer).toMatchObject({ source: "runner" });
  });

  test("a certificate of our own is shown where one is asked for (mTLS)", async () => {
    const authority = await createCertificateAuthority();
    const { url } = await tlsServer(authority, true);
    const caFile = file("ca.pem", authority.certificate);
    await expect(ask(url, { tls: { caFile } })).rejects.toThrow();
    const own = await authority.issue({ subject: "CN=collector", usage: "client" });
    const tls = { caFile, certFile: file("cert.pem", own.certificate), keyFile: file("key.pem", own.privateKey) };
    expect(await ask(url, { tls })).toMatchObject({ source: "runner" });
  });
});
