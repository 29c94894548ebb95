import { parentPort, workerData } from "node:worker_threads";
import { type BackupOptions, backupDatabase } from "./backup-database.ts";

// A copy takes as long as the disk takes: it is made in a thread of its own, and the collector goes on.
parentPort?.postMessage(backupDatabase(workerData as BackupOptions));
