import type { ChildRecord, Summary } from "../core/index.ts";
import type { StoreReader } from "../store/store.ts";

/** What surfaces read. Every answer includes all that was acknowledged before the question. */
export interface ProjectionReader extends StoreReader {
  summary(): Summary;
  child(source: string, childId: string): ChildRecord | undefined;
}
