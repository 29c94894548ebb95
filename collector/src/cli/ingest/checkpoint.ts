import { randomUUID } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { isJsonObject, type LifecycleEvent, normalizeEvent } from "@agent-lifecycle/proto";
import { type AdapterState, parseAdapterState, serializeAdapterState } from "@agent-lifecycle/sdk/adapters";

/** How far a file, or each file of a folder, has been read, and what is known by then. */
export interface Checkpoint {
  readonly format: string;
  /** Bytes, by the file's name. */
  readonly positions: Readonly<Record<string, number>>;
  readonly state: AdapterState;
  /** Events that were made and may not have arrived. They are sent again exactly as they are. */
  readonly pending: readonly LifecycleEvent[];
}

const VERSION = 1;

/** @returns `undefined` when there is none. @throws Error when it cannot be read, or is of another format. */
export function readCheckpoint(path: string, format: string): Checkpoint | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    return parsed(text, format);
  } catch (error) {
    throw new Error(`the checkpoint ${path} cannot be used: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function parsed(text: string, format: string): Checkpoint {
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value) || value.version !== VERSION) throw new Error(`it is not of version ${VERSION}`);
  if (value.format !== format) throw new Error(`it is of the format ${String(value.format)}`);
  const { positions, state, pending } = value;
  if (!isJsonObject(positions) || typeof state !== "string" || !Array.isArray(pending))
    throw new Error("it is damaged");
  const known: Record<string, number> = Object.create(null) as Record<string, number>;
  for (const [name, bytes] of Object.entries(positions)) {
    if (!Number.isSafeInteger(bytes) || (bytes as number) < 0) throw new Error("it is damaged");
    known[name] = bytes as number;
  }
  return {
    format,
    positions: known,
    state: parseAdapterState(state),
    pending: pending.map((event) => {
      const normalized = normalizeEvent(event);
      if (!normalized.ok) throw new Error("it holds an event that breaks the contract");
      return normalized.event;
    }),
  };
}

/** Replaces the checkpoint as a whole: a crash leaves the old one or the new one. */
export function writeCheckpoint(path: string, { format, positions, state, pending }: Checkpoint): void {
  const beside = `${path}.${randomUUID()}`;
  const content = { version: VERSION, format, positions, state: serializeAdapterState(state), pending };
  writeFileSync(beside, JSON.stringify(content), { mode: 0o600 });
  renameSync(beside, path);
}
