import { ATTRIBUTES, EVENT_NAME_PREFIX } from "./otlp-attributes.ts";

/** One log record of a request. A record without `agent_lifecycle.schema_version` is foreign: not ours to judge. */
export type DecodedRecord =
  | { readonly foreign: true }
  | {
      readonly foreign: false;
      /** What `normalizeEvent` takes: nothing has been checked yet. */
      readonly candidate: Readonly<Record<string, unknown>>;
      /** 32 lower-case hexadecimal digits; absent when the record carries none that is valid. */
      readonly traceId?: string;
      /** 16 lower-case hexadecimal digits; absent when the record carries none that is valid. */
      readonly spanId?: string;
      /** Old evidence that was kept somewhere on its way (S1). */
      readonly backfill?: true;
    };

/** What was passed over in the attributes of lifecycle records. Foreign records are not looked at so closely. */
export interface ToleratedAttributes {
  /** Values that did not count, because the same record stated another one under their key later. */
  readonly repeatedKeys: number;
  /** Keys and values that are only an index of a string table, which logs have none of (H21): as if absent. */
  readonly stringTableIndexes: number;
}

/** A whole request decoded, or why it is no request. A record's own faults are left to `normalizeEvent`. */
export type DecodedLogs =
  | { readonly ok: true; readonly records: readonly DecodedRecord[]; readonly tolerated?: ToleratedAttributes }
  | { readonly ok: false; readonly problem: string };

/** Levels of lists and maps in one attribute value that are read; deeper ones make the request malformed. */
export const MAX_VALUE_DEPTH = 64;
/** Log records in one request. */
export const MAX_RECORDS = 1_000_000;
/** Lists and maps in all attribute values of one request that are read; more make the request malformed. */
export const MAX_CONTAINERS = 4_000_000;

export const FOREIGN: DecodedRecord = Object.freeze({ foreign: true });

/** The attributes an event is made of. A slot is a position in this list. */
export const SLOT_NAMES: readonly string[] = [
  ATTRIBUTES.schemaVersion,
  ATTRIBUTES.eventId,
  ATTRIBUTES.source,
  ATTRIBUTES.sourceEpoch,
  ATTRIBUTES.childId,
  ATTRIBUTES.rootChildId,
  ATTRIBUTES.parentChildId,
  ATTRIBUTES.attempt,
  ATTRIBUTES.external,
  ATTRIBUTES.adoptedAt,
  ATTRIBUTES.state,
  ATTRIBUTES.sequence,
  ATTRIBUTES.activity,
  ATTRIBUTES.details,
  ATTRIBUTES.observedAt,
  ATTRIBUTES.capabilityHistory,
  ATTRIBUTES.capabilityHeartbeat,
  ATTRIBUTES.capabilitySnapshot,
  ATTRIBUTES.capabilityCancel,
  ATTRIBUTES.capabilityTerminalCause,
  ATTRIBUTES.eventName,
  ATTRIBUTES.backfill,
];

const SCHEMA_VERSION = 0;
const FIRST_CAPABILITY = 15;
const EVENT_NAME = 20;
const BACKFILL = 21;

/** Which slots of a record are set, and to what; the same object serves record after record. */
export class RecordSlots {
  private readonly values: unknown[] = new Array(SLOT_NAMES.length).fill(undefined);
  private readonly texts = new ParsedTexts();
  private repeatedInRecord = 0;
  private indexesInRecord = 0;
  private repeatedKeys = 0;
  private stringTableIndexes = 0;

  clear(): void {
    this.values.fill(undefined);
    this.repeatedInRecord = 0;
    this.indexesInRecord = 0;
  }

  /** The last of several values under one key wins. An empty value is `null`. */
  set(slot: number, value: unknown): void {
    if (this.values[slot] !== undefined) this.repeatedInRecord += 1;
    this.values[slot] = value;
  }

  /** A key or a value of this record is only an index of a string table. */
  noteStringTableIndex(): void {
    this.indexesInRecord += 1;
  }

  /** Of all records that `candidate` was asked for; `undefined` when there was nothing to tolerate. */
  tolerated(): ToleratedAttributes | undefined {
    const { repeatedKeys, stringTableIndexes } = this;
    return repeatedKeys + stringTableIndexes === 0 ? undefined : { repeatedKeys, stringTableIndexes };
  }

  get isForeign(): boolean {
    return this.values[SCHEMA_VERSION] === undefined;
  }

  /** Whether the record calls itself old evidence. */
  private get isBackfill(): boolean {
    return this.values[BACKFILL] === true;
  }

  /**
   * @param eventName the record's own field; empty when the record has none
   * @param timestamp the record's time as RFC 3339 text, if it has one
   */
  candidate(eventName: string, timestamp: string | undefined): Readonly<Record<string, unknown>> {
    const { values } = this;
    this.repeatedKeys += this.repeatedInRecord;
    this.stringTableIndexes += this.indexesInRecord;
    return {
      schemaVersion: values[SCHEMA_VERSION],
      eventId: values[1],
      source: values[2],
      sourceEpoch: values[3],
      childId: values[4],
      lineage: {
        rootChildId: values[5],
        attempt: values[7],
        external: values[8],
        parentChildId: values[6],
        adoptedAt: values[9],
      },
      kind: kindOf(eventName, values[EVENT_NAME]),
      state: values[10],
      observedAt: values[14] ?? timestamp,
      sequence: values[11],
      activity: values[12],
      details: detailsOf(values[13], this.texts),
      capabilities: this.capabilities(),
    };
  }

  /** The decoded record of a candidate; `spanId` counts only beside a `traceId`. */
  record(
    candidate: Readonly<Record<string, unknown>>,
    traceId: string | undefined,
    spanId: string | undefined,
  ): DecodedRecord {
    const decoded: DecodedRecord =
      traceId === undefined
        ? { foreign: false, candidate }
        : spanId === undefined
          ? { foreign: false, candidate, traceId }
          : { foreign: false, candidate, traceId, spanId };
    return this.isBackfill ? { ...decoded, backfill: true } : decoded;
  }

  private capabilities(): Record<string, unknown> | undefined {
    const { values } = this;
    let stated: Record<string, unknown> | undefined;
    for (let slot = FIRST_CAPABILITY; slot < EVENT_NAME; slot += 1) {
      const value = values[slot];
      if (value === undefined || value === null) continue;
      stated ??= {};
      stated[CAPABILITY_MEMBERS[slot - FIRST_CAPABILITY] as string] = value;
    }
    return stated;
  }
}

const CAPABILITY_MEMBERS = ["history", "heartbeat", "snapshot", "cancel", "terminalCause"];

/** The kind stands in EventName, or in the attribute where a back end on the way has dropped the field. */
function kindOf(eventName: string, attribute: unknown): unknown {
  if (eventName.startsWith(EVENT_NAME_PREFIX)) return eventName.slice(EVENT_NAME_PREFIX.length);
  if (typeof attribute !== "string") return eventName === "" ? attribute : eventName;
  return attribute.startsWith(EVENT_NAME_PREFIX) ? attribute.slice(EVENT_NAME_PREFIX.length) : attribute;
}

/** Details travel as one JSON text. Text that is no JSON stays text, which `normalizeEvent` rejects by its path. */
function detailsOf(value: unknown, texts: ParsedTexts): unknown {
  if (typeof value !== "string" || !texts.admit(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** Texts of a request that are parsed without a look at them. */
const MAX_UNSEEN_LENGTH = MAX_CONTAINERS;

/**
 * What the JSON texts of one request may become. Parsed JSON takes up to 20 times its text, and all records of a request
 * are held at once: where there is much text, its lists and maps are counted before they are made.
 */
class ParsedTexts {
  private unseenLength = 0;
  // Each takes two characters: this many may be among what nobody looked at.
  private containers = MAX_UNSEEN_LENGTH / 2;

  /** Whether this text may be parsed as well. One that may not costs its own record, and none of the others. */
  admit(text: string): boolean {
    if (this.unseenLength + text.length <= MAX_UNSEEN_LENGTH) {
      this.unseenLength += text.length;
      return true;
    }
    const found = containersIn(text);
    if (this.containers + found > MAX_CONTAINERS) return false;
    this.containers += found;
    return true;
  }
}

/** No fewer than there are: brackets inside of texts count too. */
function containersIn(text: string): number {
  let containers = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit === 0x5b || unit === 0x7b) containers += 1;
  }
  return containers;
}
