import type { AdminActions, AdminResult } from "../runtime/admin-actions.ts";
import type { Retention } from "../runtime/retention.ts";

export interface AdminParts {
  readonly retention: Pick<Retention, "run">;
  /** Reads the configuration again. Without it there is none to read. */
  readonly reload: (() => Promise<AdminResult>) | undefined;
  /** Writes a copy of the database under this name. Without it there is no place for one. */
  readonly backup: ((name: string) => Promise<AdminResult>) | undefined;
}

/** What can be administered from outside. */
export function composeAdminActions({ retention, reload, backup }: AdminParts): AdminActions {
  return {
    reload: () =>
      reload?.() ?? unsupported("this collector was started without a configuration that could be read again"),
    backup: (name) => backup?.(name) ?? unsupported("no folder for backups is configured: storage.backup_directory"),
    runRetention: async () => {
      const { inputs, children } = await retention.run();
      return { ok: true, details: { inputs, children } };
    },
  };
}

function unsupported(text: string): Promise<AdminResult> {
  return Promise.resolve({ ok: false, reason: "unsupported", text });
}
