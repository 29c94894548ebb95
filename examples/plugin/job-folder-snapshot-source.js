import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";

export const componentApiVersion = 1;

export const optionsSchema = {
  type: "object",
  properties: { folder: { type: "string", minLength: 1 } },
  required: ["folder"],
  additionalProperties: false,
};

/** An identifier has 256 characters at most, and so has a file's name on any system. */
const JOB = /^(.{1,251})\.job$/;

/**
 * The authority for jobs of a scheduler that keeps a file for each job that is there: `NAME.job` holds the job's state, such
 * as `running`, and goes when the job does. The file `epoch` names the scheduler's run, as the events of its jobs do.
 * @param {import("@agent-lifecycle/collector").SnapshotSourceContext} context
 * @param {{ folder: string }} options
 * @returns {import("@agent-lifecycle/collector").SnapshotSource}
 */
export function createSnapshotSource(context, options) {
  const folder = resolve(context.folder, options.folder);
  let isShutDown = false;
  return {
    source: context.source,
    // A folder that is not there is a mistake in the configuration, and no scheduler without jobs.
    start: async () => void (await readdir(folder)),
    shutdown: async () => {
      isShutDown = true;
    },
    fetch: async (signal) => {
      if (isShutDown) throw new Error("the snapshot source was shut down");
      signal.throwIfAborted();
      // When it begins to look: whatever happens meanwhile is newer than what it says.
      const observedAt = new Date(context.clock.wallNow()).toISOString();
      const sourceEpoch = (await readFile(join(folder, "epoch"), { encoding: "utf8", signal })).trim();
      const children = [];
      for (const name of await readdir(folder)) {
        const childId = JOB.exec(name)?.[1];
        const state = childId === undefined ? undefined : await stateIn(join(folder, name), signal);
        if (state !== undefined) children.push({ childId, state });
      }
      // Every look is a statement of its own.
      const snapshotId = randomUUID();
      return { source: context.source, sourceEpoch, snapshotId, observedAt, complete: true, coverage: "all", children };
    },
  };
}

/** `undefined` when the job has gone since the folder was listed. */
async function stateIn(path, signal) {
  try {
    return (await readFile(path, { encoding: "utf8", signal })).trim();
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}
