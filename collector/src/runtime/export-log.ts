import type { StoredAudit, StoredInput } from "../store/store.ts";
import type { ExportBatch, ExportedInput } from "./exporter.ts";

/** The part of a store that exporters are served from. */
export interface ExportLog {
  /** Stored inputs above `afterInputId`, in order. Reading may stop anywhere. */
  inputs(afterInputId: number): Iterable<StoredInput>;
  audit(query: { readonly afterInputId: number; readonly limit: number }): readonly StoredAudit[];
  /** Id of the newest stored input; 0 when there is none. */
  lastInputId(): number;
}

const AUDIT_PAGE = 1_000;

/** The next piece of the log above `afterInputId`, at most `maxInputs` long; `undefined` when there is nothing. */
export function readBatch(log: ExportLog, afterInputId: number, maxInputs: number): ExportBatch | undefined {
  const stored: StoredInput[] = [];
  for (const input of log.inputs(afterInputId)) {
    stored.push(input);
    if (stored.length >= maxInputs) break;
  }
  const [first] = stored;
  const last = stored.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const audit = auditBetween(log, first.inputId, last.inputId);
  const inputs = stored.map(
    ({ inputId, input, status, diagnostic }): ExportedInput => ({
      inputId,
      input,
      status,
      diagnostic,
      audit: audit.get(inputId) ?? [],
    }),
  );
  // Ids grow by one: what lies between the cursor and the first was removed. A new exporter has missed nothing.
  return { inputs, missedInputs: afterInputId === 0 ? 0 : first.inputId - afterInputId - 1 };
}

/** By input. One input can leave more entries than a page holds: its page grows until it has them all. */
function auditBetween(log: ExportLog, firstInputId: number, lastInputId: number): Map<number, StoredAudit["entry"][]> {
  const byInput = new Map<number, StoredAudit["entry"][]>();
  let afterInputId = firstInputId - 1;
  let limit = AUDIT_PAGE;
  while (afterInputId < lastInputId) {
    const page = log.audit({ afterInputId, limit });
    const isLastPage = page.length < limit;
    const cut = isLastPage ? undefined : page.at(-1)?.inputId;
    // The last input of a full page may have more entries than the page shows: it is left for the next one.
    const whole = cut === undefined ? page : page.filter(({ inputId }) => inputId < cut);
    for (const { inputId, entry } of whole) {
      if (inputId > lastInputId) return byInput;
      const entries = byInput.get(inputId);
      if (entries === undefined) byInput.set(inputId, [entry]);
      else entries.push(entry);
    }
    if (isLastPage) return byInput;
    const reached = whole.at(-1)?.inputId;
    if (reached === undefined) limit *= 2;
    else afterInputId = reached;
  }
  return byInput;
}
