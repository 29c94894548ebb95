/** How an action ended, for the one who asked for it. Nothing secret belongs into it: it is shown and written down. */
export type AdminResult =
  | { readonly ok: true; readonly details: Readonly<Record<string, string | number | boolean | readonly string[]>> }
  /**
   * `conflict`: not in this state, such as a backup whose name is taken. `unsupported`: this collector cannot.
   * `not_found`: there is nothing by that name. `unanswered`: somebody else was asked, and gave no answer.
   */
  | {
      readonly ok: false;
      readonly reason: "conflict" | "failed" | "unsupported" | "not_found" | "unanswered";
      readonly text: string;
    };

/** What can be administered from outside. Each may take long. Of all but `cancel` one runs at a time. */
export interface AdminActions {
  /** Reads tokens and certificates anew, and whatever else may change while the collector runs. */
  reload(): Promise<AdminResult>;
  /**
   * Writes a copy of the database into the folder for backups.
   * @param name a plain file name: letters, digits, `.`, `_` and `-`, and no `.` at its beginning
   */
  backup(name: string): Promise<AdminResult>;
  /** Deletes now what retention allows to delete. */
  runRetention(): Promise<AdminResult>;
  /** Asks whoever runs a child to stop it. That it was asked changes no state: what becomes of the child is evidence's to say. */
  cancel(source: string, childId: string): Promise<AdminResult>;
}
