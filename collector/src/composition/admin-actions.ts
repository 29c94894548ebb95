import { join } from "node:path";
import type { StorageConfiguration } from "../config/configuration.ts";
import type { AdminActions, AdminResult } from "../runtime/admin-actions.ts";
import type { Retention } from "../runtime/retention.ts";
import { backupInThread } from "../store/sqlite/backup-thread.ts";

export interface AdminParts {
  readonly retention: Pick<Retention, "run">;
  /** Reads the configuration again. Without it there is none to read. */
  readonly reload: (() => Promise<AdminResult>) | undefined;
  readonly storage: StorageConfiguration;
  /** What a backup that failed leaves to say. */
  readonly onError: (error: unknown) => void;
}

/** What can be administered from outside. */
export function composeAdminActions({ retention, reload, storage, onError }: AdminParts): AdminActions {
  return {
    reload: () =>
      reload?.() ?? unsupported("this collector was started without a configuration that could be read again"),
    backup: (name) => backUp(storage, name, onError),
    runRetention: async () => {
      const { inputs, children } = await retention.run();
      return { ok: true, details: { inputs, children } };
    },
  };
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
