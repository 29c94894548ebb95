// A host that uses nothing of ours: OpenTelemetry's JavaScript SDK, its exporters, and the attributes that docs/wire.md names.
// Usage: emit.mjs PROTOCOL COMPRESSION URL SOURCE, such as: emit.mjs grpc gzip http://127.0.0.1:4317 node-host
// Writes the trace context that its records carry as one line of JSON.
import { ROOT_CONTEXT, TraceFlags, trace } from "@opentelemetry/api";
import { OTLPLogExporter as GrpcExporter } from "@opentelemetry/exporter-logs-otlp-grpc";
import { OTLPLogExporter as HttpExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import { BatchLogRecordProcessor, LoggerProvider } from "@opentelemetry/sdk-logs";

const [, , protocol, compression, url, source] = process.argv;
const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const SPAN_ID = "b7ad6b7169203331";
const STARTED_AT = Date.UTC(2026, 8, 1, 9);

const exporter =
  protocol === "grpc"
    ? new GrpcExporter({ url, compression })
    : new HttpExporter({ url: `${url}/v1/logs`, compression });
const provider = new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter })] });
const logger = provider.getLogger("my-agent-runner", "4.2.0");
const span = { traceId: TRACE_ID, spanId: SPAN_ID, traceFlags: TraceFlags.SAMPLED };
const context = trace.setSpanContext(ROOT_CONTEXT, span);
const sequences = new Map();

function report(child, kind, members = {}) {
  const sequence = (sequences.get(child) ?? 0) + 1;
  sequences.set(child, sequence);
  const named = Object.entries(members).map(([name, value]) => [`agent_lifecycle.${name}`, value]);
  logger.emit({
    eventName: `agent_lifecycle.${kind}`,
    timestamp: STARTED_AT + sequence * 1000,
    severityNumber: 9,
    body: `${child}: ${kind}`,
    context,
    attributes: {
      "agent_lifecycle.schema_version": 1,
      "agent_lifecycle.event_id": `${child}-${sequence}`,
      "agent_lifecycle.source": source,
      "agent_lifecycle.source_epoch": "2026-09-01",
      "agent_lifecycle.child_id": child,
      "agent_lifecycle.root_child_id": "planner",
      "agent_lifecycle.parent_child_id": "planner",
      "agent_lifecycle.attempt": 0,
      "agent_lifecycle.external": false,
      "agent_lifecycle.sequence": sequence,
      "agent_lifecycle.capability.heartbeat": "known",
      ...Object.fromEntries(named),
    },
  });
}

for (const child of ["researcher", "reviewer"]) {
  report(child, "created", { state: "created" });
  report(child, "state_changed", { state: "starting" });
  report(child, "state_changed", { state: "running" });
}
report("researcher", "activity", {
  activity: "liest die Arbeit, 论文",
  details: JSON.stringify({ usage: { inputTokens: 812 } }),
});
report("researcher", "heartbeat");
// What any other part of the host logs goes the same way.
logger.emit({ severityNumber: 9, body: "cache warmed", attributes: { entries: [1, 2] } });
report("researcher", "terminal", { state: "completed", details: JSON.stringify({ exitCode: 0 }) });
report("reviewer", "state_changed", {
  state: "waiting",
  details: JSON.stringify({ waitingOn: { kind: "permission" } }),
});
await provider.shutdown();
console.log(JSON.stringify({ traceId: TRACE_ID, spanId: SPAN_ID }));
