import type { LifecycleEvent } from "@agent-lifecycle/proto";
import { makeEvent } from "../../kit/events.ts";

/** A running root with a child, one that ended, one with a gap, one of another source, one without a state. */
export function family(): readonly LifecycleEvent[] {
  return [
    makeEvent({ childId: "root", state: "created", sequence: 1, details: { name: "Plan the release" } }),
    makeEvent({ childId: "root", state: "starting", sequence: 2, at: 1 }),
    makeEvent({ childId: "root", state: "running", sequence: 3, at: 2 }),
    makeEvent({
      childId: "leaf",
      state: "created",
      sequence: 1,
      lineage: { rootChildId: "root", parentChildId: "root" },
    }),
    makeEvent({ childId: "done", state: "created", sequence: 1 }),
    makeEvent({ childId: "done", state: "cancelled", sequence: 2, at: 5 }),
    makeEvent({ childId: "gap", state: "created", sequence: 1 }),
    makeEvent({ childId: "gap", kind: "activity", activity: "Compiling", sequence: 5, at: 3 }),
    makeEvent({ childId: "other", source: "else", state: "created", sequence: 1 }),
    makeEvent({ childId: "nameless", kind: "heartbeat", sequence: 1 }),
  ];
}
