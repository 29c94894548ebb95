import { type Members, payloadOf, rowOf } from "./frames.ts";

/** What a child needs of its gateway. */
interface Stage {
  rows: unknown;
  emit(sessionId: string, type: string, payload: Members): Members;
}

/** One child of a session, as a gateway tells of it: its row appears before its start, and goes after its end. */
export class ScriptedChild {
  readonly #gateway: Stage;
  readonly #sessionId: string;
  readonly #childId: string;
  readonly #more: Members;
  #toolCount = 0;

  constructor(gateway: Stage, sessionId: string, childId: string, more: Members) {
    this.#gateway = gateway;
    this.#sessionId = sessionId;
    this.#childId = childId;
    this.#more = more;
  }

  isAskedFor(): this {
    this.#emit("subagent.spawn_requested");
    return this;
  }

  starts(): this {
    this.appears();
    this.#emit("subagent.start");
    return this;
  }

  /** Its row, without a word. */
  appears(): this {
    this.#gateway.rows = [...this.#otherRows(), rowOf(this.#childId, { ...this.#more, tool_count: this.#toolCount })];
    return this;
  }

  usesTool(tool: string): this {
    this.#toolCount += 1;
    if (this.#rows().length > this.#otherRows().length) this.appears();
    this.#emit("subagent.tool", { tool_name: tool, tool_preview: "…" });
    return this;
  }

  thinks(text: string): this {
    this.#emit("subagent.thinking", { text });
    return this;
  }

  /** The order of a real gateway: first the frame, and then the row goes. */
  completes(status: string, more: Members = {}): this {
    this.saysComplete(status, more);
    return this.vanishes();
  }

  /** The frame alone: the row is still there. */
  saysComplete(status: string, more: Members = {}): this {
    this.#emit("subagent.complete", { status, ...more });
    return this;
  }

  /** The row goes without a word. */
  vanishes(): this {
    this.#gateway.rows = this.#otherRows();
    return this;
  }

  #emit(type: string, more: Members = {}): void {
    const payload = payloadOf(this.#childId, { ...this.#more, tool_count: this.#toolCount, ...more });
    this.#gateway.emit(this.#sessionId, type, payload);
  }

  #rows(): readonly Members[] {
    return this.#gateway.rows as readonly Members[];
  }

  #otherRows(): readonly Members[] {
    return this.#rows().filter((row) => row["subagent_id"] !== this.#childId);
  }
}
