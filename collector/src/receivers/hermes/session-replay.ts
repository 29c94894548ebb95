import { isJsonObject } from "@agent-lifecycle/proto";
import { epochIn, isPartOfName } from "./gateway-features.ts";
import { type GatewayEvent, readGatewayEvent } from "./gateway-frame.ts";

/** An answer to `session.events.since`. */
export interface SessionReplay {
  readonly events: readonly GatewayEvent[];
  /** Entries that are no events. */
  readonly unreadable: number;
  readonly latestSequence: number;
  /** Frames between those asked for and those listed are gone on the gateway's side. */
  readonly isTruncated: boolean;
  readonly epoch: string | undefined;
}

/** Reads an answer; `undefined` when it is none. */
export function readSessionReplay(result: unknown): SessionReplay | undefined {
  if (!isJsonObject(result)) return undefined;
  const { events, latest_seq: latest, truncated } = result;
  if (!Array.isArray(events)) return undefined;
  const read = (events as readonly unknown[]).map(readGatewayEvent);
  const readable = read.filter((event) => event !== undefined);
  const newest = readable.reduce((highest, { sequence }) => Math.max(highest, sequence ?? 0), 0);
  return {
    events: readable.toSorted((first, second) => (first.sequence ?? 0) - (second.sequence ?? 0)),
    unreadable: read.length - readable.length,
    latestSequence: typeof latest === "number" && Number.isSafeInteger(latest) ? Math.max(latest, newest) : newest,
    isTruncated: truncated === true,
    epoch: epochIn(result, "epoch"),
  };
}

/** The runtime ids in an answer to `session.active_list`; `undefined` when it is none. */
export function readActiveSessions(result: unknown): readonly string[] | undefined {
  const sessions = isJsonObject(result) ? result["sessions"] : undefined;
  if (!Array.isArray(sessions)) return undefined;
  return (sessions as readonly unknown[]).flatMap((session) => {
    const id = isJsonObject(session) ? session["id"] : undefined;
    return isPartOfName(id) ? [id] : [];
  });
}
