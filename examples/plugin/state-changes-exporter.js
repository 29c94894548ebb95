import { open } from "node:fs/promises";
import { resolve } from "node:path";

export const componentApiVersion = 1;

export const optionsSchema = {
  type: "object",
  properties: { path: { type: "string", minLength: 1 } },
  required: ["path"],
  additionalProperties: false,
};

/** Inputs after which a child's state is what they say. */
const TAKEN = new Set(["applied", "provisional", "gap_filled"]);

/** The last line is found in the last bytes of the file: a line is far shorter. */
const TAIL_BYTES = 65_536;

/**
 * Appends a JSON line for every change of a child's state. The collector brings each input at least once; the file's
 * last line says how far it has come, so that after a crash no line is missing and none is there twice.
 * @param {import("@agent-lifecycle/collector").ExporterContext} context
 * @param {{ path: string }} options
 * @returns {import("@agent-lifecycle/collector").Exporter}
 */
export function createExporter(context, options) {
  return new StateChangesExporter(resolve(context.folder, options.path));
}

class StateChangesExporter {
  #path;
  #file;
  #lastInputId = 0;
  #starting;

  constructor(path) {
    this.#path = path;
  }

  start() {
    this.#starting = this.#start();
    return this.#starting;
  }

  async shutdown() {
    await this.#starting?.catch(() => {});
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  async export({ inputs }, signal) {
    if (signal.aborted) return { kind: "retry", reason: "the collector stops" };
    const changes = inputs.filter(({ inputId }) => inputId > this.#lastInputId).flatMap(stateChangesOf);
    const last = changes.at(-1);
    if (last === undefined) return { kind: "delivered" };
    try {
      await this.#file.appendFile(changes.map((change) => `${JSON.stringify(change)}\n`).join(""));
      await this.#file.sync();
    } catch (error) {
      // Part of it may be written. It is cut off again, so that the next attempt begins at the end of a line.
      await this.#recover();
      throw error;
    }
    this.#lastInputId = last.inputId;
    return { kind: "delivered" };
  }

  async #start() {
    this.#file = await open(this.#path, "a+", 0o600);
    try {
      await this.#recover();
    } catch (error) {
      await this.#file.close();
      this.#file = undefined;
      throw error;
    }
  }

  /** Cuts off a line that a crash left unfinished, and learns from the last whole one how far the file has come. */
  async #recover() {
    const { size } = await this.#file.stat();
    const start = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await this.#file.read(Buffer.alloc(TAIL_BYTES), 0, TAIL_BYTES, start);
    const tail = buffer.subarray(0, bytesRead);
    const end = tail.lastIndexOf("\n") + 1;
    if (end < tail.length) await this.#file.truncate(start + end);
    const lastLine = tail
      .subarray(0, Math.max(0, end - 1))
      .toString("utf8")
      .split("\n")
      .at(-1);
    if (lastLine !== undefined && lastLine !== "") this.#lastInputId = JSON.parse(lastLine).inputId;
  }
}

/** The changes that one input made: what an event reported, and what the collector corrected or concluded by itself. */
function stateChangesOf({ inputId, input, status, audit }) {
  const concluded = audit
    .filter(({ reason }) => reason !== "epoch_changed")
    .map(({ source, childId, from, to, at, reason }) => ({
      inputId,
      at: new Date(at).toISOString(),
      source,
      childId,
      state: to,
      from,
      evidence: reason,
    }));
  if (input.type !== "event" || !("state" in input.event) || !TAKEN.has(status)) return concluded;
  const { source, childId, state, observedAt } = input.event;
  return [{ inputId, at: observedAt, source, childId, state, evidence: "event" }, ...concluded];
}
