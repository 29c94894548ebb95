import { attributesOf, encodeLogsJson, encodeLogsProtobuf, type LifecycleEvent } from "@agent-lifecycle/proto";
import { type CohortOptions, cohortEvents, cohortMark, SOURCE } from "./cohort.ts";

export type Encoding = "protobuf" | "json";

export const CONTENT_TYPES: Readonly<Record<Encoding, string>> = {
  protobuf: "application/x-protobuf",
  json: "application/json",
};

/** Records in a request, where nothing else is said: what the SDK and OpenTelemetry's processors send at most. */
export const BATCH_SIZE = 512;

const TEMPLATE_COHORT = 0;

interface Template {
  readonly body: Buffer;
  /** Where the mark of the cohort stands. */
  readonly marks: readonly number[];
}

/** Encodes events as the SDK of one producer would send them. */
export function encodeRequest(events: readonly LifecycleEvent[], encoding: Encoding): Buffer {
  const logs = {
    resourceAttributes: { "service.name": SOURCE, "service.instance.id": "bench-0" },
    scopeVersion: "0.1.0",
    records: events.map((event) => ({ event, emittedAtMs: Date.parse(event.observedAt) + 1 })),
  };
  return Buffer.from(encoding === "protobuf" ? encodeLogsProtobuf(logs) : encodeLogsJson(logs));
}

/**
 * The requests in which one producer reports cohort after cohort. They are encoded once; for every further cohort only
 * its number is written over the last one's, so that making load costs next to nothing. A body that was returned is
 * written over by the next round: send it before asking again.
 */
export class CohortRequests {
  readonly eventsPerRequest: number;
  readonly #templates: readonly Template[];

  constructor(encoding: Encoding, eventsPerRequest: number, options: CohortOptions = {}) {
    const events = cohortEvents(TEMPLATE_COHORT, options);
    if (events.length % eventsPerRequest !== 0) throw new RangeError(`${eventsPerRequest} does not divide a cohort`);
    this.eventsPerRequest = eventsPerRequest;
    const templates: Template[] = [];
    for (let start = 0; start < events.length; start += eventsPerRequest) {
      const body = encodeRequest(events.slice(start, start + eventsPerRequest), encoding);
      templates.push({ body, marks: placesOf(body, cohortMark(TEMPLATE_COHORT)) });
    }
    this.#templates = templates;
  }

  /** Requests in which one cohort is reported. */
  get requestsPerCohort(): number {
    return this.#templates.length;
  }

  body(cohort: number, request: number): Buffer {
    const template = this.#templates[request];
    if (template === undefined) throw new RangeError(`a cohort has no request ${request}`);
    const mark = Buffer.from(cohortMark(cohort), "latin1");
    for (const place of template.marks) mark.copy(template.body, place);
    return template.body;
  }
}

function placesOf(body: Buffer, text: string): readonly number[] {
  const places: number[] = [];
  for (let place = body.indexOf(text); place >= 0; place = body.indexOf(text, place + text.length)) places.push(place);
  return places;
}

/** What the load looks like, in words: a figure means little without it. */
export function describeLoad(): string {
  const events = cohortEvents(TEMPLATE_COHORT);
  const attributes = events.reduce((sum, event) => sum + Object.keys(attributesOf(event)).length, 0) / events.length;
  const bytesOf = (encoding: Encoding): number => Math.round(encodeRequest(events, encoding).length / events.length);
  return (
    `an event has ${attributes.toFixed(1)} attributes and takes ${bytesOf("protobuf")} bytes in OTLP protobuf, ` +
    `${bytesOf("json")} in OTLP/JSON; a request carries ${BATCH_SIZE} events where nothing else is said`
  );
}
