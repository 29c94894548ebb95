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
    };

/** A whole request decoded, or why it is no request. A record's own faults are left to `normalizeEvent`. */
export type DecodedLogs =
  | { readonly ok: true; readonly records: readonly DecodedRecord[] }
  | { readonly ok: false; readonly problem: string };

/** Levels of lists and maps in one attribute value that are read; deeper ones make the request malformed. */
export const MAX_VALUE_DEPTH = 64;
/** Log records in one request. */
export const MAX_RECORDS = 1_000_000;

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
];

const SCHEMA_VERSION = 0;
const FIRST_CAPABILITY = 15;
const EVENT_NAME = 20;

/** Which slots of a record are set, and to what; the same object serves record after record. */
export class RecordSlots {
  private readonly values: unknown[] = new Array(SLOT_NAMES.length).fill(undefined);

  clear(): void {
    this.values.fill(undefined);
  }

  /** The last of several values under one key wins. An empty value is `null`. */
  set(slot: number, value: unknown): void {
    this.values[slot] = value;
  }

  get isForeign(): boolean {
    return this.values[SCHEMA_VERSION] === undefined;
  }

  /**
   * @param eventName the record's own field; empty when the record has none
   * @param timestamp the record's time as RFC 3339 text, if it has one
   */
  candidate(eventName: string, timestamp: string | undefined): Readonly<Record<string, unknown>> {
    const { values } = this;
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
      details: detailsOf(values[13]),
      capabilities: this.capabilities(),
    };
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
function detailsOf(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
