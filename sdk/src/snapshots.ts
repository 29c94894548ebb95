// An authority for the children of one lifecycle. Apart from the main entry: hosts that do not use it do not load it.
export { type SnapshotService, serveSnapshots } from "./snapshots/serve-snapshots.ts";
export type { SnapshotHandler } from "./snapshots/snapshot-handler.ts";
export type { SnapshotOptions } from "./snapshots/snapshot-options.ts";
