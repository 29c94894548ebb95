"""A host that uses nothing of ours: OpenTelemetry's Python SDK, its exporters, and the attributes that docs/wire.md names.

Usage: emit.py PROTOCOL COMPRESSION URL SOURCE, such as: emit.py grpc gzip http://127.0.0.1:4317 python-host
Writes the trace context that its records carry as one line of JSON.
"""

import json
import sys
from datetime import UTC, datetime

from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

TRACE_ID = 0x0AF7651916CD43DD8448EB211C80319C
SPAN_ID = 0xB7AD6B7169203331
STARTED_AT = int(datetime(2026, 9, 1, 9, tzinfo=UTC).timestamp())


def exporter_of(protocol: str, compression: str, url: str):
    if protocol == "grpc":
        from grpc import Compression
        from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter

        chosen = Compression.Gzip if compression == "gzip" else Compression.NoCompression
        return OTLPLogExporter(endpoint=url, insecure=True, compression=chosen)
    from opentelemetry.exporter.otlp.proto.http import Compression
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter

    return OTLPLogExporter(endpoint=f"{url}/v1/logs", compression=Compression(compression))


def main(protocol: str, compression: str, url: str, source: str) -> None:
    provider = LoggerProvider()
    provider.add_log_record_processor(BatchLogRecordProcessor(exporter_of(protocol, compression, url)))
    logger = provider.get_logger("my-agent-runner", "4.2.0")
    span = SpanContext(TRACE_ID, SPAN_ID, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))
    context = set_span_in_context(NonRecordingSpan(span))
    sequences: dict[str, int] = {}

    def report(child: str, kind: str, **members) -> None:
        sequence = sequences[child] = sequences.get(child, 0) + 1
        logger.emit(
            LogRecord(
                timestamp=(STARTED_AT + sequence) * 1_000_000_000,
                context=context,
                severity_number=SeverityNumber.INFO,
                body=f"{child}: {kind}",
                event_name=f"agent_lifecycle.{kind}",
                attributes={
                    "agent_lifecycle.schema_version": 1,
                    "agent_lifecycle.event_id": f"{child}-{sequence}",
                    "agent_lifecycle.source": source,
                    "agent_lifecycle.source_epoch": "2026-09-01",
                    "agent_lifecycle.child_id": child,
                    "agent_lifecycle.root_child_id": "planner",
                    "agent_lifecycle.parent_child_id": "planner",
                    "agent_lifecycle.attempt": 0,
                    "agent_lifecycle.external": False,
                    "agent_lifecycle.sequence": sequence,
                    "agent_lifecycle.capability.heartbeat": "known",
                    **{f"agent_lifecycle.{name}": value for name, value in members.items()},
                },
            )
        )

    for child in ("researcher", "reviewer"):
        report(child, "created", state="created")
        report(child, "state_changed", state="starting")
        report(child, "state_changed", state="running")
    report("researcher", "activity", activity="liest die Arbeit, 论文", details=json.dumps({"usage": {"inputTokens": 812}}))
    report("researcher", "heartbeat")
    # What any other part of the host logs goes the same way.
    logger.emit(LogRecord(body="cache warmed", severity_number=SeverityNumber.INFO, attributes={"entries": [1, 2]}))
    report("researcher", "terminal", state="completed", details=json.dumps({"exitCode": 0}))
    report("reviewer", "state_changed", state="waiting", details=json.dumps({"waitingOn": {"kind": "permission"}}))
    provider.shutdown()
    print(json.dumps({"traceId": f"{TRACE_ID:032x}", "spanId": f"{SPAN_ID:016x}"}))


if __name__ == "__main__":
    main(*sys.argv[1:])
