export type JournalErrorCode =
  /** Somebody else holds the lock, and went on holding it for as long as was waited. */
  | "journal_locked"
  /** What is in the file is not what appends leave there. It is left as it is. */
  | "journal_damaged"
  /** What was to be appended is no event, or too long for a line. */
  | "journal_entry_invalid"
  | "journal_closed";

/** Why nothing was appended. */
export class JournalError extends Error {
  override readonly name: string = "JournalError";
  readonly code: JournalErrorCode;

  constructor(code: JournalErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
