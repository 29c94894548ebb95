import { type Capabilities, capabilitiesFrom } from "@agent-lifecycle/proto";
import type { GatewayEvent } from "./gateway-frame.ts";
import { METHOD_NOT_FOUND, type Reply } from "./json-rpc-peer.ts";

/** What this build of the gateway does, as it showed itself. Versions are never compared. */
export interface GatewayFeatures {
  /** It keeps the frames of each session for a while, and gives them to anyone who asks. */
  readonly replay: boolean;
  /**
   * Several clients can be attached to one session, and each gets its frames. Shown by `subagent.list`: it answers only
   * clients that are *attached*, a set that builds with a single slot for each session do not have, and it came with that
   * set. The proof costs a question about no session at all. To try it out instead, by attaching and looking whether the
   * owner still hears anything, would take the stream away from its owner on every build where the answer is no.
   */
  readonly sharedSessions: boolean;
  /**
   * Who may interrupt a child: on older builds any client, by the child's id alone; on later ones a client attached to its
   * session. `unproven`: not asked about, since nobody configured that children may be cancelled.
   */
  readonly interrupt: "any_client" | "attached_client" | "unavailable" | "unproven";
}

export type Ask = (method: string, params: Readonly<Record<string, unknown>>) => Promise<Reply>;

export interface DetectionOptions {
  /** Whether to find out about attaching and cancelling. Questions that nobody needs answered are not asked. */
  readonly mayAttach: boolean;
  readonly mayCancel: boolean;
}

export interface Detection {
  readonly features: GatewayFeatures;
  /** Names the gateway's process; `undefined` for builds that do not tell. */
  readonly replayEpoch: string | undefined;
}

/** No child has such an id: the gateway's own begin with `sa-`. */
const NOBODY = "agent-lifecycle-nobody";

/**
 * Finds out what the gateway does, by questions about no session and no child. An error other than "no such method" shows
 * that the method is there.
 */
export async function detectFeatures(ready: GatewayEvent, ask: Ask, options: DetectionOptions): Promise<Detection> {
  const replayed = await ask("session.events.since", { session_id: "", last_seen: 0 });
  const sharedSessions =
    (options.mayAttach || options.mayCancel) && isThere(await ask("subagent.list", { session_id: "" }));
  const interrupt = options.mayCancel ? await whoMayInterrupt(ask, sharedSessions) : "unproven";
  return {
    features: { replay: isThere(replayed), sharedSessions, interrupt },
    replayEpoch:
      epochIn(replayed.kind === "result" ? replayed.result : undefined, "epoch") ??
      epochIn(ready.payload, "replay_epoch"),
  };
}

async function whoMayInterrupt(ask: Ask, sharedSessions: boolean): Promise<GatewayFeatures["interrupt"]> {
  // Where sessions are shared, only attached clients may, and an unknown member would be an error of its own.
  if (sharedSessions) return "attached_client";
  const reply = await ask("subagent.interrupt", { subagent_id: NOBODY });
  if (reply.kind === "result") return "any_client";
  return isThere(reply) ? "attached_client" : "unavailable";
}

function isThere(reply: Reply): boolean {
  return reply.kind === "result" || reply.code !== METHOD_NOT_FOUND;
}

export function epochIn(holder: unknown, member: string): string | undefined {
  if (typeof holder !== "object" || holder === null) return undefined;
  const epoch: unknown = (holder as Readonly<Record<string, unknown>>)[member];
  return isPartOfName(epoch) ? epoch : undefined;
}

/** The run of the gateway, its session and a number together name an event, which has 256 characters for it. */
const MAX_PART_LENGTH = 96;

/** Whether a text of the gateway can be a part of an identifier. */
export function isPartOfName(text: unknown): text is string {
  return typeof text === "string" && text.trim() === text && text !== "" && text.length <= MAX_PART_LENGTH;
}

export interface OfferedBeside {
  /** Frames reach us without asking: over the streams of a gateway that we started, or as an attached client. */
  readonly receivesFrames: boolean;
  readonly mayCancel: boolean;
  readonly isAttaching: boolean;
}

/**
 * What a child's source is known to offer (D4). No build promises signs of life. How a child ended, and what happened
 * while nobody looked, is known only where its frames can be read; the list of running children alone tells neither.
 */
export function capabilitiesOf(features: GatewayFeatures, beside: OfferedBeside): Capabilities {
  const { replay, interrupt } = features;
  const canCancel =
    beside.mayCancel && (interrupt === "any_client" || (interrupt === "attached_client" && beside.isAttaching));
  return capabilitiesFrom({
    snapshot: "known",
    ...(replay ? { history: "known" as const } : undefined),
    ...(replay || beside.receivesFrames ? { terminalCause: "known" as const } : undefined),
    ...(canCancel ? { cancel: "known" as const } : undefined),
  });
}
