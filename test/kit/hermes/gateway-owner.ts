import { once } from "node:events";
import { onTestFinished } from "vitest";
import { WebSocket } from "ws";
import type { Members } from "./frames.ts";

/** A client that owns a session, as somebody's terminal does, and notes every frame that it gets. */
export class GatewayOwner {
  readonly frames: Members[] = [];
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => this.frames.push(JSON.parse(data.toString()) as Members));
    onTestFinished(() => socket.terminate());
  }

  static async connect(url: string): Promise<GatewayOwner> {
    const socket = new WebSocket(url);
    const owner = new GatewayOwner(socket);
    await once(socket, "open");
    return owner;
  }

  /** Creates a session of its own. */
  async createSession(): Promise<string> {
    const result = await this.ask("session.create", { cols: 80 });
    return String(result["session_id"]);
  }

  /** Resolves with the reply, after every frame that was sent before it. */
  async ask(method: string, params: Members = {}): Promise<Members> {
    const id = this.frames.length + 1_000;
    this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    for (;;) {
      const reply = this.frames.find((frame) => frame["id"] === id);
      if (reply !== undefined) return (reply["result"] ?? {}) as Members;
      await once(this.#socket, "message");
    }
  }

  /** The types of the events that came, in their order. */
  get events(): readonly string[] {
    return this.frames.flatMap(({ params }) => {
      const type: unknown = (params as Members | undefined)?.["type"];
      return typeof type === "string" && type !== "gateway.ready" ? [type] : [];
    });
  }
}
