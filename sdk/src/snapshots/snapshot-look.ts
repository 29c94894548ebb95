import { createHash } from "node:crypto";
import { formatTimestamp, type LifecycleSnapshot } from "@agent-lifecycle/proto";
import type { Clock } from "../clock.ts";
import type { ChildRegister } from "./child-register.ts";

export interface SnapshotLookOptions {
  readonly source: string;
  readonly sourceEpoch: string;
  readonly coverage: "known" | "all";
  readonly clock: Clock;
  readonly createId: () => string;
}

/** A snapshot with the text that is sent. */
export interface SnapshotLook {
  readonly snapshot: LifecycleSnapshot;
  readonly body: Buffer;
  /** Strong entity tag: equal exactly when the bodies are. */
  readonly entityTag: string;
}

/** Whoever asks more often gets the same answer, as long as nothing has changed. Milliseconds. */
const LASTS_MS = 1_000;

/**
 * Looks at the register. A look is a new statement with a time of its own even when nothing has changed: that a child
 * still lives is what an authority is asked for.
 */
export function createSnapshotLook(register: ChildRegister, options: SnapshotLookOptions): () => SnapshotLook {
  const { clock } = options;
  let last: { readonly look: SnapshotLook; readonly version: number; readonly atMs: number } | undefined;
  return () => {
    const nowMs = clock.now();
    const { version } = register;
    const ageMs = nowMs - (last?.atMs ?? 0);
    if (last !== undefined && last.version === version && ageMs >= 0 && ageMs < LASTS_MS) return last.look;
    const look = lookNow(register, options, nowMs);
    last = { look, version, atMs: nowMs };
    return look;
  };
}

function lookNow(
  register: ChildRegister,
  { source, sourceEpoch, coverage, createId }: SnapshotLookOptions,
  nowMs: number,
): SnapshotLook {
  const children = register.entries();
  const isAll = coverage === "all" && register.isWhole;
  const snapshot: LifecycleSnapshot = {
    source,
    sourceEpoch,
    snapshotId: createId(),
    observedAt: formatTimestamp(nowMs),
    // An answer that covers nobody is complete for nobody, and there is no other way to say so.
    complete: isAll || children.length > 0,
    coverage: isAll || children.length === 0 ? "all" : children.map(({ childId }) => childId),
    children,
  };
  const body = Buffer.from(JSON.stringify(snapshot));
  const entityTag = `"${createHash("sha256").update(body).digest("base64url")}"`;
  return { snapshot, body, entityTag };
}
