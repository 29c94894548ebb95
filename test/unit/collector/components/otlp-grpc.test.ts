import { once } from "node:events";
import { createServer } from "node:http";
import { connect, constants } from "node:http2";
import type { AddressInfo } from "node:net";
import { createMetrics, createOtlpGrpcReceiver } from "@agent-lifecycle/collector/parts";
import { describeReceiver } from "../../../kit/component-suite.ts";
import { makeEvent } from "../../../kit/events.ts";
import { framed, LOGS_EXPORT } from "../grpc-fixture.ts";
import { otlpBody } from "../ingest-fixture.ts";

const MESSAGE = framed(otlpBody("protobuf", [makeEvent({ childId: "a", state: "created", sequence: 0 })]));

const onError = (error: unknown): void => {
  throw error;
};

/** One call over a connection of its own, which is closed with the answer: nothing stays open in this process. */
async function call(url: string): Promise<void> {
  const session = connect(url);
  const closed = once(session, "close");
  try {
    const stream = session.request({
      [constants.HTTP2_HEADER_METHOD]: "POST",
      [constants.HTTP2_HEADER_PATH]: LOGS_EXPORT,
      [constants.HTTP2_HEADER_CONTENT_TYPE]: "application/grpc",
      [constants.HTTP2_HEADER_TE]: "trailers",
    });
    stream.end(MESSAGE);
    stream.resume();
    await once(stream, "close");
  } finally {
    session.destroy();
    await closed.catch(() => {});
  }
}

describeReceiver("the OTLP/gRPC receiver", {
  create: async ({ intake }) => {
    const { telemetry } = createMetrics();
    const component = createOtlpGrpcReceiver({ intake, telemetry, port: 0, onError });
    let url: string | undefined;
    return {
      component,
      send: async () => {
        // After a shutdown the receiver has no address any more, and is spoken to where it was.
        url ??= component.endpoint();
        await call(url);
      },
    };
  },
  createUnable: async ({ intake }) => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    return {
      component: createOtlpGrpcReceiver({ intake, telemetry: createMetrics().telemetry, port, onError }),
      dispose: () => new Promise((resolve) => server.close(() => resolve())),
    };
  },
});
