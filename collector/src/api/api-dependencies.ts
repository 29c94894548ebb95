import type { AdminActions } from "../runtime/admin-actions.ts";
import type { AdminAudit } from "../runtime/admin-audit.ts";
import type { Authority } from "../runtime/authority.ts";
import type { Clock } from "../runtime/clock.ts";
import type { ObservedSource } from "../runtime/observed-source.ts";
import type { ProjectionReader } from "../runtime/projection-reader.ts";
import type { Readiness } from "../runtime/readiness.ts";
import type { UpdateFeed } from "../runtime/update-feed.ts";
import type { CollectorMetrics } from "./metrics.ts";
import type { DeclaredVisibility } from "./sources-view.ts";

/** What the API reads from. */
export interface ApiDependencies {
  readonly reader: ProjectionReader;
  readonly updates: UpdateFeed;
  readonly clock: Clock;
  readonly readiness: () => Readiness;
  readonly metrics: CollectorMetrics;
  /** Those of the sources that have one. Default: none. */
  readonly authorities?: () => readonly Authority[];
  /** Sources whose children an adapter observes. Default: none. */
  readonly observed?: readonly ObservedSource[];
  /** What was declared of how sources can be seen. Default: nothing. */
  readonly visibility?: DeclaredVisibility;
  /** What can be administered, and where it is written down. Without it there is no admin API. */
  readonly admin?: { readonly actions: AdminActions; readonly audit: AdminAudit };
}
