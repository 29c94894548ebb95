import { join } from "node:path";
import { isTerminal } from "@agent-lifecycle/proto";
import type { StorageConfiguration } from "../config/configuration.ts";
import type { ChildRecord } from "../core/index.ts";
import type { AdminActions, AdminResult } from "../runtime/admin-actions.ts";
import type { ObservedSource } from "../runtime/observed-source.ts";
import type { Retention } from "../runtime/retention.ts";
import { backupInThread } from "../store/sqlite/backup-thread.ts";

export interface AdminParts {
  readonly retention: Pick<Retention, "run">;
  /** Reads the configuration again. Without it there is none to read. */
  readonly reload: (() => Promise<AdminResult>) | undefined;
  readonly storage: StorageConfiguration;
  /** Sources whose children an adapter observes. */
  readonly observed: readonly ObservedSource[];
  readonly child: (source: string, childId: string) => ChildRecord | undefined;
  /** What a backup that failed leaves to say. */
  readonly onError: (error: unknown) => void;
}

/** What can be administered from outside. */
export function composeAdminActions(parts: AdminParts): AdminActions {
  const { retention, reload, storage, onError } = parts;
  return {
    cancel: (source, childId) => cancelChild(parts, source, childId),
    reload: () =>
      reload?.() ?? unsupported("this collector was started without a configuration that could be read again"),
    backup: (name) => backUp(storage, name, onError),
    runRetention: async () => {
      const { inputs, children } = await retention.run();
      return { ok: true, details: { inputs, children } };
    },
  };
}

const WHY_NOT = { not_found: "conflict", not_allowed: "unsupported", failed: "unanswered" } as const;

async function cancelChild({ observed, child }: AdminParts, source: string, childId: string): Promise<AdminResult> {
  const record = child(source, childId);
  if (record === undefined) return { ok: false, reason: "not_found", text: "no evidence of such a child" };
  if (isTerminal(record.state)) {
    return { ok: false, reason: "conflict", text: `the child has ended already: ${record.state}` };
  }
  const adapter = observed.find((each) => each.source === source);
  if (adapter === undefined) return unsupported("nothing that observes this source can ask its children to stop");
  const { kind, text } = await adapter.cancel(childId);
  if (kind !== "requested") return { ok: false, reason: WHY_NOT[kind], text };
  return { ok: true, details: { source, childId, stateUntilEvidence: record.state ?? "unknown" } };
}

async function backUp(
  { path: database, backupDirectory }: StorageConfiguration,
  name: string,
  onError: (error: unknown) => void,
): Promise<AdminResult> {
  if (backupDirectory === undefined) {
    return unsupported("no folder for backups is configured: storage.backup_directory");
  }
  try {
    const { bytes, inputs, position } = await backupInThread({ database, destination: join(backupDirectory, name) });
    return { ok: true, details: { name, bytes, inputs, position } };
  } catch (error) {
    if (error instanceof Error && error.name === "BackupExistsError") {
      return { ok: false, reason: "conflict", text: `there is a backup ${name} already` };
    }
    // The reason may name paths of this machine: it is for the log.
    onError(error);
    return { ok: false, reason: "failed", text: "the backup could not be written; the log says why" };
  }
}

function unsupported(text: string): Promise<AdminResult> {
  return Promise.resolve({ ok: false, reason: "unsupported", text });
}
