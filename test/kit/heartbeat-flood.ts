import { encodeLogsProtobuf, formatTimestamp, type LifecycleEvent } from "@agent-lifecycle/proto";
import { sampleEvent } from "./otlp-logs.ts";

const SOURCE = "flood";
const MARK_LENGTH = 8;
const FIRST_MARK = "0".repeat(MARK_LENGTH);

/** What every child says once before its heartbeats. */
const BEGINNING = [
  { kind: "created", state: "created" },
  { kind: "state_changed", state: "starting" },
  { kind: "state_changed", state: "running" },
] as const;

/**
 * Heartbeats of the same children over and over, as OTLP protobuf requests. One request is encoded once, and only the
 * number in its event ids is written over for the next, so that making load costs next to nothing. Children are as many
 * as a request has records: whatever comes through or is refused, the collector's projection stays as large as it is.
 */
export class HeartbeatFlood {
  readonly recordsPerRequest: number;
  readonly #startedAtMs: number;
  readonly #template: Buffer;
  readonly #marks: readonly number[];
  #requests = 0;

  /** @param startedAtMs when the children say that they began. Milliseconds since the epoch. */
  constructor(recordsPerRequest: number, startedAtMs: number) {
    this.recordsPerRequest = recordsPerRequest;
    this.#startedAtMs = startedAtMs;
    const heartbeats = this.#children().map((childId) =>
      this.#event(childId, `beat-${FIRST_MARK}-${childId}`, { kind: "heartbeat" }, BEGINNING.length),
    );
    this.#template = encode(heartbeats);
    this.#marks = placesOf(this.#template, `beat-${FIRST_MARK}-`).map((place) => place + "beat-".length);
  }

  /** Brings all children to life. */
  beginning(): Buffer {
    return encode(
      BEGINNING.flatMap((report, step) =>
        this.#children().map((childId) => this.#event(childId, `begin-${step}-${childId}`, report, step)),
      ),
    );
  }

  /** A heartbeat of every child that was never sent before. */
  next(): Buffer {
    this.#requests += 1;
    const body = Buffer.from(this.#template);
    const mark = Buffer.from(String(this.#requests).padStart(MARK_LENGTH, "0"), "latin1");
    for (const place of this.#marks) mark.copy(body, place);
    return body;
  }

  #children(): readonly string[] {
    return Array.from({ length: this.recordsPerRequest }, (_, index) => `child-${String(index).padStart(4, "0")}`);
  }

  #event(childId: string, eventId: string, report: object, step: number): LifecycleEvent {
    return sampleEvent({
      eventId,
      source: SOURCE,
      childId,
      lineage: { rootChildId: childId, attempt: 0, external: false },
      observedAt: formatTimestamp(this.#startedAtMs + step),
      sequence: undefined,
      state: undefined,
      ...report,
    });
  }
}

function encode(events: readonly LifecycleEvent[]): Buffer {
  const records = events.map((event) => ({ event, emittedAtMs: Date.parse(event.observedAt) }));
  return Buffer.from(encodeLogsProtobuf({ resourceAttributes: { "service.name": "flood" }, records }));
}

function placesOf(body: Buffer, text: string): readonly number[] {
  const places: number[] = [];
  for (let place = body.indexOf(text); place >= 0; place = body.indexOf(text, place + text.length)) places.push(place);
  return places;
}
