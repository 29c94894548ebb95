import { type DiagnosticCode as ContractDiagnosticCode, cutText, redactText } from "@agent-lifecycle/proto";
import { diag } from "@opentelemetry/api";

/** What the SDK can object to. The contract's own codes keep their names. */
export type SdkDiagnosticCode =
  | "invalid_configuration"
  | "invalid_argument"
  | "duplicate_child_id"
  | "details_unreadable"
  | "lifecycle_closed"
  | "internal_error"
  | "export_failed"
  | "export_recovered"
  | "events_dropped"
  | "events_rejected"
  | "jsonl_write_failed"
  | "spool_failed"
  | Extract<
      ContractDiagnosticCode,
      | "illegal_transition"
      | "terminal_immutable"
      | "adoption_time_missing"
      | "reserved_member_malformed"
      | "details_cut"
      | "member_name_forbidden"
    >;

/** One objection. Nothing was thrown; what was valid around it went on. */
export interface SdkDiagnostic {
  readonly code: SdkDiagnosticCode;
  /** One sentence, redacted, at most 300 characters. */
  readonly message: string;
  /** The argument, option or variable it is about, dotted: `details.usage`. */
  readonly path?: string;
  readonly childId?: string;
}

/** Called in the same turn as the objection. What it throws is counted as `internal_error` and goes no further. */
export type DiagnosticListener = (diagnostic: SdkDiagnostic) => void;

const MAX_MESSAGE_LENGTH = 300;
const MAX_EXCERPT_SOURCE = 2048;

/** Counts every objection and tells the host's listener, or OpenTelemetry's `diag` when there is none. */
export class Diagnostics {
  readonly #counts = new Map<SdkDiagnosticCode, number>();
  readonly #listener: DiagnosticListener | undefined;
  #listening = false;

  constructor(listener: DiagnosticListener | undefined) {
    this.#listener = listener;
  }

  report(
    code: SdkDiagnosticCode,
    message: string,
    about: { readonly path?: string; readonly childId?: string } = {},
  ): void {
    this.#count(code);
    // A listener that makes a mistake of its own inside must not call itself for ever.
    if (this.#listening) return;
    this.#listening = true;
    try {
      const bounded = boundedMessage(message);
      if (this.#listener === undefined) diag.warn(`agent-lifecycle: ${code}: ${bounded}`);
      else this.#listener({ code, message: bounded, ...about });
    } catch {
      this.#count("internal_error");
    } finally {
      this.#listening = false;
    }
  }

  /** For the catch of every public call. */
  internalError(error: unknown): void {
    this.report("internal_error", textOfError(error));
  }

  counts(): Readonly<Partial<Record<SdkDiagnosticCode, number>>> {
    return Object.fromEntries(this.#counts);
  }

  #count(code: SdkDiagnosticCode): void {
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1);
  }
}

function boundedMessage(message: string): string {
  return cutText(redactText(cutText(message, MAX_EXCERPT_SOURCE)), MAX_MESSAGE_LENGTH);
}

/** Describes whatever was thrown, even when the description throws too. */
export function textOfError(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return "an error that cannot be described";
  }
}
