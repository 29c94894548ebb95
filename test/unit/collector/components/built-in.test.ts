import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { Intake } from "@agent-lifecycle/collector";
import {
  createApiServer,
  createIngestServer,
  createJsonlFileReceiver,
  createJsonlStreamReceiver,
  createMetrics,
  type HttpServer,
  LivenessLoop,
} from "@agent-lifecycle/collector/parts";
import { Liveness } from "@agent-lifecycle/collector/projection";
import type { ComponentUnderTest, ReceiverUnderTest } from "@agent-lifecycle/collector/testing";
import { canonicalEvent } from "@agent-lifecycle/proto";
import { describeComponent, describeReceiver } from "../../../kit/component-suite.ts";
import { TEST_POLICY } from "../../../kit/core-run.ts";
import { makeEvent } from "../../../kit/events.ts";
import type { startTestCollector } from "../collector-fixture.ts";
import { post } from "./plain-request.ts";

const LINE = `${canonicalEvent(makeEvent({ childId: "a", state: "created", sequence: 0 }))}\n`;

const onError = (error: unknown): void => {
  throw error;
};

function sendTo(server: HttpServer): () => Promise<void> {
  let url: string | undefined;
  return async () => {
    // After a shutdown the server has no address any more, and is spoken to where it was.
    url ??= server.url();
    await post(`${url}/v1/lifecycle/events`, "application/x-ndjson", LINE);
  };
}

/** A port that is taken until `dispose`. */
async function takePort(): Promise<{ readonly port: number; readonly dispose: () => Promise<void> }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was taken");
  return { port: address.port, dispose: () => new Promise((resolve) => server.close(() => resolve())) };
}

function ingestServer(intake: Intake, port: number): Promise<HttpServer> {
  return createIngestServer({ intake, telemetry: createMetrics().telemetry }, { port, onError });
}

describeReceiver("the ingest server", {
  create: async ({ intake }): Promise<ReceiverUnderTest> => {
    const server = await ingestServer(intake, 0);
    return { component: server, send: sendTo(server) };
  },
  createUnable: async ({ intake }): Promise<ComponentUnderTest> => {
    const { port, dispose } = await takePort();
    return { component: await ingestServer(intake, port), dispose };
  },
});

describeReceiver("the API server", {
  create: async ({ intake }): Promise<ReceiverUnderTest> => {
    const server = await apiServer(intake, 0);
    return { component: server, send: sendTo(server) };
  },
  createUnable: async ({ intake }): Promise<ComponentUnderTest> => {
    const { port, dispose } = await takePort();
    return { component: await apiServer(intake, port), dispose };
  },
});

/** Nothing of a collector but what the server needs to be made: the contract's requests ask for none of it. */
async function apiServer(intake: Intake, port: number): Promise<HttpServer> {
  const metrics = createMetrics();
  const reader = unread();
  return createApiServer(
    {
      intake,
      reader,
      updates: { subscribe: () => () => {} },
      metrics,
      telemetry: metrics.telemetry,
      clock: { wallNow: () => 0, monotonicNow: () => 0 },
      readiness: () => ({ ready: true }),
    },
    { port, onError },
  );
}

type Reader = Awaited<ReturnType<typeof startTestCollector>>["reader"];

function unread(): Reader {
  return new Proxy({} as Reader, {
    get: (_target, name) => () => {
      throw new Error(`nothing here reads ${String(name)}`);
    },
  });
}

describeReceiver("the JSONL file receiver", {
  create: async ({ intake }): Promise<ReceiverUnderTest> => {
    const folder = await mkdtemp(join(tmpdir(), "agent-lifecycle-"));
    const path = join(folder, "events.jsonl");
    await writeFile(path, "");
    return {
      component: createJsonlFileReceiver({ intake, path, onError, pollIntervalMs: 1 }),
      send: () => appendFile(path, LINE),
      dispose: () => rm(folder, { recursive: true }),
    };
  },
});

describeReceiver("the JSONL stream receiver", {
  create: async ({ intake }): Promise<ReceiverUnderTest> => {
    const stream = new PassThrough();
    return {
      component: createJsonlStreamReceiver({ intake, stream, onError }),
      send: () =>
        new Promise((resolve, reject) => {
          stream.write(LINE, (error) => (error ? reject(error) : resolve()));
        }),
    };
  },
});

describeComponent("the liveness loop", {
  create: async (): Promise<ComponentUnderTest> => {
    const clock = { wallNow: () => Date.now(), monotonicNow: () => performance.now() };
    const component = new LivenessLoop({
      clock,
      liveness: new Liveness(() => TEST_POLICY),
      child: () => undefined,
      submit: async () => true,
      isReceiving: () => true,
      onError,
      intervalMs: 1,
    });
    return { component };
  },
});
