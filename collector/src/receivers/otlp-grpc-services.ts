import { decodeLogsProtobuf, type ExportOutcome, encodeExportResponseProtobuf } from "@agent-lifecycle/proto";
import type { handleUnaryCall, MethodDefinition, Server } from "@grpc/grpc-js";
import { refusalOf } from "../http/http-refusal.ts";
import type { Intake } from "../runtime/intake.ts";
import { exportLogs, rpcStatusOf } from "./otlp-export.ts";
import { type AdmittedCall, type CallAdmission, LOGS_EXPORT, RECEIVER } from "./otlp-grpc-admission.ts";
import { callStatusOf } from "./otlp-grpc-status.ts";

/** Signals that OTLP has and this collector does not take: the admission answers them. */
const OTHER_SIGNALS = [
  "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
  "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
  "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export",
] as const;

export interface OtlpServices {
  /** Resolves when everything that was taken in has been passed on. */
  settled(): Promise<void>;
}

/** Registers the services of OTLP. Messages stay bytes: the decoder is the one that OTLP/HTTP uses. */
export function registerOtlpServices(
  server: Server,
  intake: Intake,
  admission: CallAdmission,
  onError: (error: unknown) => void,
): OtlpServices {
  const running = new Set<Promise<void>>();
  const handle: handleUnaryCall<Buffer, Buffer> = (call, callback) => {
    const admitted = admission.admitted(call.metadata);
    if (admitted === undefined) {
      callback(callStatusOf(rpcStatusOf(refusalOf(new Error("a call passed by the admission"), onError))));
      return;
    }
    const run = receive(call.request, admitted, intake)
      .then(
        (outcome) => callback(null, Buffer.from(encodeExportResponseProtobuf(outcome))),
        (error: unknown) => callback(callStatusOf(rpcStatusOf(refusalOf(error, onError)))),
      )
      .catch(onError)
      .finally(() => {
        admitted.release();
        running.delete(run);
      });
    running.add(run);
  };
  server.addService({ export: unary(LOGS_EXPORT) }, { export: handle });
  for (const path of OTHER_SIGNALS) server.addService({ export: unary(path) }, {});
  return {
    settled: async () => {
      await Promise.all(running);
    },
  };
}

async function receive(message: Buffer, { principal }: AdmittedCall, intake: Intake): Promise<ExportOutcome> {
  return exportLogs(() => decodeLogsProtobuf(message), intake, {
    receiver: RECEIVER,
    backfill: false,
    bytes: message.length,
    ...(principal.sources === undefined ? undefined : { allowedSources: principal.sources }),
  });
}

function unary(path: string): MethodDefinition<Buffer, Buffer> {
  const asItIs = (message: Buffer): Buffer => message;
  return {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: asItIs,
    requestDeserialize: asItIs,
    responseSerialize: asItIs,
    responseDeserialize: asItIs,
  };
}
