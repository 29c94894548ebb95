import type { ComponentLog } from "../runtime/component-context.ts";
import type { ExportTelemetry } from "../runtime/export-telemetry.ts";
import type { ExportBatch, Exporter } from "../runtime/exporter.ts";
import type { ChildUpdate } from "./child-update.ts";
import { type TimelineMemory, updatesOf } from "./derive-updates.ts";
import { type Deliverable, RecordDelivery } from "./record-delivery.ts";
import type { RequestSender, SendOutcome } from "./send-outcome.ts";
import type { AsideList } from "./set-aside.ts";

export interface UpdateExporterParts<Item> {
  /** Names it in counters. */
  readonly id: string;
  readonly timelines: TimelineMemory;
  readonly itemsOf: (update: ChildUpdate) => readonly Item[];
  readonly encode: (items: readonly Item[]) => Uint8Array;
  readonly sender: RequestSender;
  /** As in `DeliveryParts`. */
  readonly maxPerRequest?: number;
  /** The destination takes requests without records, and what is to blame for a failure can be told by one. */
  readonly takesEmptyRequests: boolean;
  readonly aside: AsideList;
  readonly telemetry: ExportTelemetry;
  readonly log: ComponentLog;
}

const OUTCOMES = ["sent", "rejected", "set_aside"] as const;

/** An exporter of what inputs did to children, to a destination that takes requests. */
export function createUpdateExporter<Item>(parts: UpdateExporterParts<Item>): Exporter {
  const { id, timelines, itemsOf, encode, sender, aside, telemetry, log } = parts;
  let current: { readonly batch: ExportBatch; readonly delivery: RecordDelivery<Item> } | undefined;
  let hasTaken = false;
  let toldPartial = "";
  let toldAside = "";

  async function deliveryOf(batch: ExportBatch): Promise<RecordDelivery<Item>> {
    // An attempt that comes again is of the same batch: it was read once, and children have gone on from there.
    if (current?.batch === batch) return current.delivery;
    const records: Deliverable<Item>[] = [];
    try {
      for (const input of batch.inputs) {
        for (const update of await updatesOf(input, timelines)) {
          for (const item of itemsOf(update)) records.push({ inputId: update.inputId, item });
        }
      }
    } catch (error) {
      // Some children went on and others did not: the batch is read again from what is stored.
      timelines.forget();
      throw error;
    }
    const { maxPerRequest, takesEmptyRequests } = parts;
    const probe = (signal: AbortSignal): Promise<SendOutcome> => sender.send(encode([]), signal);
    const delivery = new RecordDelivery(records, {
      sender,
      encode,
      aside,
      ...(maxPerRequest === undefined ? undefined : { maxPerRequest }),
      ...(takesEmptyRequests ? { probe } : undefined),
      hasTaken: () => hasTaken,
      count: (outcome, count) => {
        if (outcome === "sent" && count > 0) hasTaken = true;
        telemetry.countRecords(id, outcome, count);
      },
      onSetAside: (reason) => {
        if (reason === toldAside) return;
        toldAside = reason;
        log.error({ reason }, "the destination refuses a record for good; it is set aside");
      },
      onPartialSuccess: (message, rejected) => {
        if (message === toldPartial) return;
        toldPartial = message;
        log.error({ rejected, reason: message }, "the destination takes records in part");
      },
    });
    current = { batch, delivery };
    return delivery;
  }

  return {
    start: async () => {
      // From nothing on: the first record that is refused is an increase.
      for (const outcome of OUTCOMES) telemetry.countRecords(id, outcome, 0);
    },
    shutdown: () => sender.close(),
    export: async (batch, signal) => (await deliveryOf(batch)).attempt(signal),
  };
}
