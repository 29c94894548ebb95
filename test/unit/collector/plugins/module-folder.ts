import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { PluginSpecification } from "@agent-lifecycle/collector/parts";
import { temporaryDirectory } from "../../../kit/event-file.ts";

/** A folder with these files in it, as beside a configuration; gone after the test. */
export function moduleFolder(files: Readonly<Record<string, string>>): string {
  const folder = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** How the configuration names a receiver, unless a test says otherwise. */
export function specification(members: Partial<PluginSpecification> = {}): PluginSpecification {
  return { id: "module/mine", kind: "receiver", module: "./mine.mjs", path: ["receivers", "module/mine"], ...members };
}

/** Source text of a module that makes components which do nothing, with these statements put before. */
export function moduleText(statements = ""): string {
  return `${statements}
export const componentApiVersion = 1;
const nothing = { start: async () => {}, shutdown: async () => {} };
export const createReceiver = () => nothing;
export const createExporter = () => ({ ...nothing, export: async () => ({ kind: "delivered" }) });
export const createSnapshotSource = () => ({ ...nothing, source: "runner", fetch: async () => ({}) });
`;
}
