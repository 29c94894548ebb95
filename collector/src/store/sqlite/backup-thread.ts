import { Worker } from "node:worker_threads";
import type { Backup, BackupOptions } from "./backup-database.ts";

/** In the sources and in what is compiled from them, the worker lies beside this file and ends as this file does. */
const WORKER = new URL(`./backup-worker.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url);

/** As `backupDatabase`, in a thread of its own. Rejects with what that throws; of its kind only the name and the message arrive. */
export function backupInThread(options: BackupOptions): Promise<Backup> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(WORKER, { workerData: options });
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error("the backup ended without a word")));
  });
}
