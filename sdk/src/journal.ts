export { type Appended, type Journal, type JournalOptions, openJournal } from "./journal/journal.ts";
export { JournalError, type JournalErrorCode } from "./journal/journal-error.ts";
export {
  type JournalDamage,
  type JournalRepair,
  type RepairOptions,
  repairJournal,
} from "./journal/repair-journal.ts";
