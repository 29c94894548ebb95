import { parseTimestamp, SCOPE_NAME } from "@agent-lifecycle/proto";
import type { HrTime } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import type { SpooledEvent } from "../spool/spool-line.ts";
import { SDK_VERSION } from "../version.ts";
import type { Entry } from "./entry-queue.ts";
import { producerResource } from "./resource.ts";

const SCOPE = { name: SCOPE_NAME, version: SDK_VERSION };

/** Makes records of spooled events: with the times and trace of their emission, and the resource of who emitted them. */
export class SpooledRecords {
  /** Of the producer that the last event came from: a spool holds events of very few. */
  #resource: Resource | undefined;
  #producer = "";

  entryOf({ event, spanContext }: SpooledEvent): Entry {
    const observedAt = hrTime(parseTimestamp(event.observedAt) ?? 0);
    return {
      event,
      bytes: 0,
      isOld: true,
      record: {
        hrTime: observedAt,
        hrTimeObserved: observedAt,
        ...(spanContext === undefined ? undefined : { spanContext }),
        resource: this.#resourceOf(event.source, event.sourceEpoch),
        instrumentationScope: SCOPE,
        attributes: {},
        droppedAttributesCount: 0,
      },
    };
  }

  #resourceOf(source: string, sourceEpoch: string): Resource {
    const producer = JSON.stringify([source, sourceEpoch]);
    if (this.#resource === undefined || this.#producer !== producer) {
      this.#resource = producerResource(source, sourceEpoch);
      this.#producer = producer;
    }
    return this.#resource;
  }
}

function hrTime(timeMs: number): HrTime {
  const seconds = Math.floor(timeMs / 1_000);
  return [seconds, Math.round((timeMs - seconds * 1_000) * 1_000_000)];
}
