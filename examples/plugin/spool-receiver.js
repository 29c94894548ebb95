import { mkdir, readdir, readFile, rename, stat, unlink } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

export const componentApiVersion = 1;

export const optionsSchema = {
  type: "object",
  properties: {
    folder: { type: "string", minLength: 1 },
    pollIntervalMs: { type: "integer", minimum: 1, maximum: 60_000, default: 250 },
    maxFileBytes: { type: "integer", minimum: 1, maximum: 1_048_576, default: 65_536 },
  },
  required: ["folder"],
  additionalProperties: false,
};

/** Files in one call of the intake. */
const MAX_BATCH_FILES = 500;
const UNAVAILABLE_DELAY_MS = 1_000;

/**
 * Takes events from a spool folder: one JSON file, one event. A writer makes its file aside and renames it into place
 * as `NAME.json`. A file is removed when its event is durable, so that a crash of anybody loses nothing; what is no
 * event is set aside in `refused/`.
 * @param {import("@agent-lifecycle/collector").ReceiverContext} context
 * @param {{ folder: string, pollIntervalMs: number, maxFileBytes: number }} options
 * @returns {import("@agent-lifecycle/collector").Component}
 */
export function createReceiver(context, options) {
  return new SpoolReceiver(context, options);
}

class SpoolReceiver {
  #context;
  #options;
  #folder;
  #refusedFolder;
  #stop = new AbortController();
  #starting;
  #watching;
  /** Whether the last look failed: told once for each episode. */
  #isFailing = false;

  constructor(context, options) {
    this.#context = context;
    this.#options = options;
    this.#folder = resolve(context.folder, options.folder);
    this.#refusedFolder = join(this.#folder, "refused");
  }

  start() {
    this.#starting = this.#start();
    return this.#starting;
  }

  async shutdown() {
    this.#stop.abort();
    await this.#starting?.catch(() => {});
    await this.#watching;
  }

  async #start() {
    await mkdir(this.#refusedFolder, { recursive: true });
    this.#watching = this.#watch();
  }

  async #watch() {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const found = await this.#look();
      if (!found) await this.#wait(this.#options.pollIntervalMs);
    }
  }

  /** One look into the folder. Resolves to whether there may be more to take at once. */
  async #look() {
    try {
      const names = (await readdir(this.#folder)).filter((name) => name.endsWith(".json")).sort();
      const taken = await this.#take(names.slice(0, MAX_BATCH_FILES));
      this.#isFailing = false;
      return taken;
    } catch (error) {
      if (!this.#isFailing) this.#context.log.error({ reason: error.message }, "the spool folder cannot be read");
      this.#isFailing = true;
      return false;
    }
  }

  async #take(names) {
    const files = [];
    for (const name of names) {
      const file = await this.#read(name);
      if (file !== undefined) files.push(file);
    }
    if (files.length === 0 || this.#stop.signal.aborted) return false;
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    // Nobody knows how long they lay there: what they say is old evidence.
    const answer = await this.#context.intake.acceptEvents(
      files.map((file) => file.candidate),
      { backfill: true, bytes },
    );
    if (answer.kind !== "stored") {
      await this.#wait("retryAfterSeconds" in answer ? answer.retryAfterSeconds * 1_000 : UNAVAILABLE_DELAY_MS);
      return true;
    }
    for (const [index, { path }] of files.entries()) {
      const { status, diagnostics } = answer.outcomes[index];
      const isInvalid = status === "rejected" && diagnostics.some(({ code }) => code === "invalid_event");
      if (isInvalid) await this.#setAside(path);
      else await unlink(path);
    }
    return true;
  }

  /** The file's event, or `undefined` when there is none in it. */
  async #read(name) {
    const path = join(this.#folder, name);
    const { size } = await stat(path);
    if (size > this.#options.maxFileBytes) return this.#refuse(path, "oversize");
    const text = await readFile(path, "utf8");
    try {
      return { path, candidate: JSON.parse(text), bytes: size };
    } catch {
      return this.#refuse(path, "malformed");
    }
  }

  async #refuse(path, code) {
    this.#context.intake.reportProblem({ code, text: basename(path) });
    await this.#setAside(path);
    return undefined;
  }

  async #setAside(path) {
    await rename(path, join(this.#refusedFolder, basename(path)));
  }

  async #wait(ms) {
    await delay(ms, undefined, { signal: this.#stop.signal }).catch(() => {});
  }
}
