import type { Diagnostic, State } from "@agent-lifecycle/proto";
import type {
  AuditEntry,
  ChildRecord,
  IdentityAnswer,
  IdentityQuestion,
  InputStatus,
  ProjectionInput,
  SnapshotEpoch,
  Summary,
} from "../core/index.ts";

/**
 * Where inputs become durable. One writer at a time; reads may come at any time and see the last commit.
 *
 * Durability: when `commit` has returned, everything appended since `begin` survives a crash of the process and, with
 * `synchronous: "full"`, of the machine. When it throws, nothing of it is stored.
 */
export interface Store extends StoreReader {
  /** Opens the one transaction that all following appends belong to. */
  begin(): void;
  /** Throws when the disk is full, read-only or broken, as every append may; the caller rolls back and asks `explain`. */
  commit(): void;
  rollback(): void;
  /**
   * What an error thrown by this store means for its users; `undefined` when the error did not come from it. Damage that
   * it explains is remembered: no transaction begins any more, and closing leaves the files as they are.
   */
  explain(error: unknown): StoreUnavailableError | undefined;
  /** As `explain`, for what a start cannot do without: a single row that cannot be read is damage too. */
  explainUnreadable(error: unknown): StoreUnavailableError | undefined;

  /** Appends an input with what became of it. Returns its id: ids grow by one and are never used twice. */
  append(input: AppendedInput): number;
  appendAudit(inputId: number, childKey: number, entry: AuditEntry): void;
  appendDiagnostic(diagnostic: StoredDiagnostic): void;

  /** Answers an identity question from the inputs that were stored and not refused as conflicts. */
  answerIdentity(question: IdentityQuestion, canonicalContent: string): IdentityAnswer;

  /** Writes the projection as of `inputId`: the records that changed since the last checkpoint. */
  checkpoint(checkpoint: Checkpoint): void;
  /** A child as of the last checkpoint. */
  loadChild(source: string, childId: string): StoredChild | undefined;
  /** What a start begins from: the checkpoint's live children; inputs after it are to be replayed. */
  loadCheckpoint(): LoadedCheckpoint;
  /** Every child as of the last checkpoint, or every child of one source; ended ones too, in the order of their keys. */
  everyChild(source?: string): Iterable<StoredChild>;
  /** Children that are filed under something else than their record says, so that they are found and counted wrongly. */
  misfiledChildren(): Iterable<ChildRecord>;
  /** Runs reads that belong together: they all see the same commit, whatever a writer does meanwhile. */
  consistently<Result>(reads: () => Result): Result;
  /** Stored inputs above `afterInputId`, in order. Those of the base are gone. */
  inputs(afterInputId: number): Iterable<StoredInput>;

  /** Where the log begins now, and what a replay begins with. */
  loadBase(): LogBase;
  /** A child as the removed inputs left it. */
  baseChild(source: string, childId: string): StoredChild | undefined;
  /** Every child of the base, or every child of one source. */
  baseChildren(source?: string): Iterable<StoredChild>;
  /** Base records that are filed under something else than they say. */
  misfiledBaseChildren(): Iterable<ChildRecord>;
  /** Removes all inputs up to this one; `moveBase` says in the same transaction what they folded to. */
  removeInputs(throughInputId: number): void;
  moveBase(move: BaseMove): void;
  /** Whether a stored input, other than a return of the collector, speaks of the child. */
  isSpokenOf(record: ChildRecord): boolean;
  /** Removes a child for good: its row, its base record and its audit. */
  letGo(record: ChildRecord): void;
  /** What the stored data takes, without space that is free for reuse. Bytes. */
  usedBytes(): number;

  /** Drops the oldest diagnostics beyond what is kept. */
  trimDiagnostics(kept: number): void;
  /** Whether a diagnostic is older than this time. */
  hasDiagnosticsBefore(at: number): boolean;
  dropDiagnosticsBefore(at: number): void;
  close(): void;
}

export interface AppendedInput {
  readonly input: ProjectionInput;
  /** Key of the child it speaks of; absent for snapshots and resumptions. */
  readonly childKey: number | undefined;
  readonly status: InputStatus;
  readonly diagnostic: string | undefined;
  /** Canonical text of the event, where the caller has it already. */
  readonly canonicalContent?: string;
  /** Ended children that a snapshot lists: while it is stored, it speaks of them. */
  readonly listedEnded?: readonly string[];
}

export interface StoredInput {
  readonly inputId: number;
  readonly input: ProjectionInput;
  readonly status: InputStatus;
  readonly diagnostic: string | undefined;
}

export interface StoredAudit {
  readonly inputId: number;
  readonly entry: AuditEntry;
}

/** Something that was refused or tolerated, and who said it. Texts are redacted and bounded. */
export interface StoredDiagnostic {
  readonly at: number;
  readonly receiver: string;
  readonly diagnostic: Diagnostic;
  readonly source?: string;
  readonly childId?: string;
}

/** A record, and the newest input that changed more of it than the start of its silence. */
export interface StoredChild {
  readonly record: ChildRecord;
  readonly updatedInputId: number;
}

/** The newest return of the collector (S1). It moves every silence, and is kept once instead of in every record. */
export interface StoredResumption {
  readonly inputId: number;
  readonly at: number;
}

export interface Checkpoint {
  readonly inputId: number;
  readonly records: Iterable<StoredChild>;
  readonly snapshotEpochs: ReadonlyMap<string, SnapshotEpoch>;
  readonly resumption: StoredResumption | undefined;
  /** Key of the next child to appear: keys of children that were let go are never used again. */
  readonly nextKey: number;
}

/**
 * The beginning of the log. Retention removes the oldest inputs and keeps what they folded to, so that the base and the
 * replay of the inputs after it are the projection, byte for byte.
 */
export interface LogBase {
  /** The newest removed input; 0 when none ever was. */
  readonly inputId: number;
  /** When the newest of the removed inputs was received; `undefined` when none ever was. */
  readonly at: number | undefined;
  readonly nextKey: number;
  /** To be applied to every base record that no later removed input had changed. */
  readonly resumption: StoredResumption | undefined;
  readonly snapshotEpochs: ReadonlyMap<string, SnapshotEpoch>;
}

/** What removed inputs changed in the base. */
export interface BaseMove extends LogBase {
  /** The records that changed. */
  readonly records: Iterable<StoredChild>;
  /** The epochs that changed. */
  readonly snapshotEpochs: ReadonlyMap<string, SnapshotEpoch>;
}

export interface LoadedCheckpoint {
  readonly inputId: number;
  /** Children that have not ended. Ended ones stay in the store until somebody speaks of them. */
  readonly liveChildren: Iterable<StoredChild>;
  /** To be applied to every record that no later input has changed. */
  readonly resumption: StoredResumption | undefined;
  readonly snapshotEpochs: ReadonlyMap<string, SnapshotEpoch>;
  readonly nextKey: number;
  readonly summary: Summary;
}

export interface ChildrenQuery {
  readonly states?: readonly State[];
  readonly source?: string;
  readonly rootChildId?: string;
  readonly stale?: boolean;
  readonly provisional?: boolean;
  /** Part of the child id, name, agent type, tool or activity; case does not matter. */
  readonly text?: string;
  /** Only children whose key lies below: the cursor of a newest-first listing. */
  readonly beforeKey?: number;
  readonly limit: number;
}

/** The read side, as of the last checkpoint; the writer brings it up to date before a reader asks. */
export interface StoreReader {
  /** Children that have a state, newest first. */
  children(query: ChildrenQuery): readonly ChildRecord[];
  /** Children changed by inputs above `inputId`, in the order of their latest change; with the input that changed them. */
  childrenChangedSince(inputId: number, limit: number): readonly StoredChild[];
  /** Inputs about one child above `afterInputId`, oldest first. */
  inputsOfChild(childKey: number, afterInputId: number, limit: number): readonly StoredInput[];
  /** Audit entries above `afterInputId`, oldest first; of one child when `childKey` is given. */
  audit(query: {
    readonly childKey?: number;
    readonly afterInputId: number;
    readonly limit: number;
  }): readonly StoredAudit[];
  /** Diagnostics below `beforeId`, newest first. */
  diagnostics(query: {
    readonly beforeId?: number;
    readonly code?: string;
    readonly limit: number;
  }): readonly (StoredDiagnostic & {
    readonly id: number;
  })[];
  /** Sources that children are stored for, sorted. */
  sources(): readonly { readonly source: string; readonly children: number }[];
  /** Id of the newest stored input; 0 when there is none. */
  lastInputId(): number;
}

/** The store cannot take writes now. `retryable`: it may heal by itself, as a full disk does. */
export class StoreUnavailableError extends Error {
  readonly retryable: boolean;

  constructor(message: string, retryable: boolean, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreUnavailableError";
    this.retryable = retryable;
  }
}
