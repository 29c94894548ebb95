import type { LifecycleEvent } from "@agent-lifecycle/proto";
import type { EventSink } from "./event-sink.ts";
import type { JsonlWriter } from "./jsonl-writer.ts";

/** Event lines are the only delivery: no endpoint is configured. */
export function createJsonlSink(writer: JsonlWriter): EventSink {
  return {
    accept: (event: LifecycleEvent) => writer.write(event),
    buffered: () => writer.pending(),
    spooled: () => 0,
    flush: () => writer.flush(),
    settleNow: () => writer.writeNow(),
    close: () => writer.close(),
  };
}
