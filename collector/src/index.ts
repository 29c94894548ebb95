export { type Collector, type CollectorLog, type CollectorSeams, startCollector } from "./app.ts";
export {
  type CollectorConfiguration,
  type ConfigurationProblem,
  DEFAULT_CONFIGURATION,
  type Listener,
  resolveConfiguration,
  type SourceConfiguration,
} from "./config/configuration.ts";
export type { Clock } from "./runtime/clock.ts";
export type { EventOutcome, EventsIntake, Intake, Origin, Refusal, SnapshotIntake } from "./runtime/intake.ts";
export type { ProjectionReader } from "./runtime/projection-reader.ts";
export type { ProjectionUpdate, UpdateFeed, UpdateListener } from "./runtime/update-feed.ts";
export { StoreUnavailableError } from "./store/store.ts";
