"""What a tracing processor of the OpenAI Agents SDK sees, as lines for `agent-lifecycle ingest --format openai-agents`.

    from agents import add_trace_processor
    add_trace_processor(LifecycleProcessor(open("agents.jsonl", "a", buffering=1)))

No input or output of a span is written. Nothing is raised into the run.
"""

import json

KEPT = ("id", "object", "trace_id", "parent_id", "workflow_name", "group_id", "started_at", "ended_at", "error")
KEPT_OF_SPAN = ("type", "name", "model")


class LifecycleProcessor:
    def __init__(self, stream):
        self._stream = stream

    def _write(self, kind, item):
        try:
            exported = item.export() or {}
            data = {name: exported[name] for name in KEPT if exported.get(name) is not None}
            span = exported.get("span_data") or {}
            if span:
                data["span_data"] = {name: span[name] for name in KEPT_OF_SPAN if span.get(name) is not None}
            self._stream.write(json.dumps({"type": kind, "data": data}) + "\n")
        except Exception:  # What cannot be written is not worth the run.
            pass

    def on_trace_start(self, trace):
        self._write("trace.start", trace)

    def on_trace_end(self, trace):
        self._write("trace.end", trace)

    def on_span_start(self, span):
        self._write("span.start", span)

    def on_span_end(self, span):
        self._write("span.end", span)

    def shutdown(self):
        self.force_flush()

    def force_flush(self):
        try:
            self._stream.flush()
        except Exception:
            pass
