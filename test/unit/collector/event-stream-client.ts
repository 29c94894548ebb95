import { type ClientRequest, get, type IncomingMessage } from "node:http";
import { createEventParser } from "@agent-lifecycle/collector/client";
import { onTestFinished } from "vitest";

/** One server-sent event. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: unknown;
  readonly id: string | undefined;
}

/** A reader of `/api/v1/stream` that uses the client's own parser. */
export class EventStreamClient {
  readonly events: ServerSentEvent[] = [];
  text = "";
  closed = false;
  readonly #request: ClientRequest;
  readonly #changed = new Set<() => void>();
  #response: IncomingMessage | undefined;

  /** @param query such as `?after=3` */
  static async open(apiUrl: string, query = "", headers: Record<string, string> = {}): Promise<EventStreamClient> {
    const client = new EventStreamClient(`${apiUrl}/api/v1/stream${query}`, headers);
    await client.until(() => client.#response !== undefined);
    return client;
  }

  private constructor(url: string, headers: Record<string, string>) {
    const parse = createEventParser();
    const notify = (): void => {
      for (const changed of this.#changed) changed();
    };
    this.#request = get(url, { headers, agent: false }, (response) => {
      this.#response = response;
      response.setEncoding("utf8");
      response.on("data", (text: string) => {
        this.text += text;
        for (const { name, data, id } of parse(text)) this.events.push({ event: name, data: JSON.parse(data), id });
        notify();
      });
      response.on("error", () => {});
      response.on("close", () => {
        this.closed = true;
        notify();
      });
      notify();
    });
    this.#request.on("error", () => {});
    onTestFinished(() => this.close());
  }

  get statusCode(): number | undefined {
    return this.#response?.statusCode;
  }

  /** Stops reading: what the server writes fills up on the way. */
  pause(): void {
    this.#response?.pause();
  }

  resume(): void {
    this.#response?.resume();
  }

  close(): void {
    this.#request.destroy();
  }

  /** Resolves as soon as the condition holds; it is looked at whenever something came. */
  async until(condition: () => boolean): Promise<void> {
    if (condition()) return;
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (!condition()) return;
        this.#changed.delete(look);
        resolve();
      };
      this.#changed.add(look);
    });
  }

  /** The newest state of each child, in the order of arrival. */
  get children(): ReadonlyMap<string, string> {
    const states = new Map<string, string>();
    for (const { event, data } of this.events) {
      if (event !== "child") continue;
      const { childId, state } = data as { readonly childId: string; readonly state: string };
      states.set(childId, state);
    }
    return states;
  }

  get lastId(): number {
    return Number(this.events.findLast(({ id }) => id !== undefined)?.id ?? 0);
  }
}
