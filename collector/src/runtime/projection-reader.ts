import type { ChildRecord, Summary } from "../core/index.ts";
import type { StoreReader } from "../store/store.ts";

/** What surfaces read. Every answer includes all that was acknowledged before the question, as long as the store takes writes. */
export interface ProjectionReader extends StoreReader {
  /**
   * Id of the newest input that listings take in now. That is the newest of all, except while the store takes no writes:
   * then they are as of its last checkpoint.
   */
  listingPosition(): number;
  summary(): Summary;
  child(source: string, childId: string): ChildRecord | undefined;
}
