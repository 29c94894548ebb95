import type { Lineage } from "@agent-lifecycle/proto";
import type { ChildRecord } from "./child-record.ts";

/** P4. A parent that was absent, on either side, contradicts nothing; an assumed lineage cannot be contradicted. */
export function compareLineage(record: ChildRecord, stated: Lineage): "agrees" | "different" {
  if (record.lineageAssumed) return "agrees";
  const known = record.lineage;
  const differs =
    known.rootChildId !== stated.rootChildId ||
    known.attempt !== stated.attempt ||
    known.external !== stated.external ||
    (known.parentChildId !== undefined &&
      stated.parentChildId !== undefined &&
      known.parentChildId !== stated.parentChildId);
  return differs ? "different" : "agrees";
}

/** What is known once a statement that agrees has been heard. */
export function learnLineage(record: ChildRecord, stated: Lineage): Lineage {
  if (record.lineageAssumed) return stated;
  const known = record.lineage;
  const learnsParent = known.parentChildId === undefined && stated.parentChildId !== undefined;
  const learnsAdoption = known.adoptedAt === undefined && stated.adoptedAt !== undefined;
  if (!learnsParent && !learnsAdoption) return known;
  return { ...stated, ...known };
}
