import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

/** What the model does when it is asked once more, and what it waits for before. */
export type Turn = { readonly after?: Promise<unknown> } & (
  | { readonly kind: "answers"; readonly text: string }
  | { readonly kind: "uses_tool"; readonly tool: string; readonly input: Readonly<Record<string, unknown>> }
  /** The provider refuses the call, and every repetition of it. */
  | { readonly kind: "refuses"; readonly status: number }
);

/** What was asked of the model. */
export interface ModelCall {
  readonly model: string;
  /** The text that the conversation is about, if it is one of the script's. */
  readonly about: string | undefined;
}

/** A model server of the OpenAI kind that follows a script instead of thinking. */
export interface ModelServer {
  /** With `/v1`. */
  readonly url: string;
  readonly calls: readonly ModelCall[];
  /** What the model does, turn by turn, in a conversation that was opened or continued with this text. */
  script(text: string, turns: readonly Turn[]): void;
  /** Resolves when a conversation about this text has reached the model so many times. */
  asked(text: string, times?: number): Promise<void>;
}

interface Message {
  readonly role?: string;
  readonly content?: unknown;
}

interface ChatRequest {
  readonly model?: string;
  readonly stream?: boolean;
  readonly messages?: readonly Message[];
  readonly tools?: readonly unknown[];
}

const ANYTHING: Turn = { kind: "answers", text: "Understood." };

/** Serves the models of these names on a free port of loopback, for as long as the test runs. */
export async function startModelServer(models: readonly string[]): Promise<ModelServer> {
  const scripts = new Map<string, readonly Turn[]>();
  const calls: ModelCall[] = [];
  const watchers = new Set<() => void>();
  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === "GET") {
      return sendJson(response, 200, { object: "list", data: models.map((id) => ({ id, object: "model" })) });
    }
    const chat = JSON.parse(await text(request)) as ChatRequest;
    const { about, turn } = turnFor(chat, scripts);
    calls.push({ model: chat.model ?? "", about });
    for (const watcher of watchers) watcher();
    await perform(turn, chat, response);
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls,
    script: (about, turns) => {
      scripts.set(about, turns);
    },
    asked: (about, times = 1) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (calls.filter((call) => call.about === about).length < times) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
  };
}

/**
 * An agent's conversation is about the newest text of a user in it: what the owner has said, or the goal that a child was
 * given. How often the model has spoken since then tells the turn. Requests without tools come from no agent: titles and
 * the like.
 */
function turnFor(
  { messages = [], tools = [] }: ChatRequest,
  scripts: ReadonlyMap<string, readonly Turn[]>,
): { readonly about: string | undefined; readonly turn: Turn } {
  const newest = messages.findLastIndex(({ role }) => role === "user");
  const said = plainText(messages[newest]?.content).trim();
  const about = [...scripts.keys()].find((known) => said === known || said.startsWith(`${known}\n`));
  if (about === undefined || tools.length === 0) return { about: undefined, turn: ANYTHING };
  const spoken = messages.slice(newest).filter(({ role }) => role === "assistant").length;
  const turns = scripts.get(about) ?? [];
  return { about, turn: turns[spoken] ?? ANYTHING };
}

function plainText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { readonly text?: unknown }) => (typeof part.text === "string" ? part.text : "")).join("");
}

async function perform(turn: Turn, chat: ChatRequest, response: ServerResponse): Promise<void> {
  if (turn.after !== undefined) {
    const gone = once(response, "close");
    await Promise.race([turn.after, gone]);
    if (response.destroyed) return;
  }
  switch (turn.kind) {
    case "refuses": {
      const error = { message: "the model refuses, as the script says", type: "invalid_request_error" };
      return sendJson(response, turn.status, { error });
    }
    case "answers":
      return say(chat, response, { content: turn.text });
    case "uses_tool": {
      const call = { name: turn.tool, arguments: JSON.stringify(turn.input) };
      const id = `call_${randomUUID()}`;
      return say(chat, response, { content: null, tool_calls: [{ index: 0, id, type: "function", function: call }] });
    }
  }
}

interface Said {
  readonly content: string | null;
  readonly tool_calls?: readonly object[];
}

function say({ model, stream }: ChatRequest, response: ServerResponse, said: Said): void {
  const finish_reason = said.tool_calls === undefined ? "stop" : "tool_calls";
  const base = { id: "chatcmpl-script", created: 1_790_000_000, model };
  const usage = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 };
  if (stream !== true) {
    const choices = [{ index: 0, message: { role: "assistant", ...said }, finish_reason }];
    sendJson(response, 200, { ...base, object: "chat.completion", choices, usage });
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const chunk = (choices: readonly object[], more: object = {}): void => {
    response.write(`data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices, ...more })}\n\n`);
  };
  chunk([{ index: 0, delta: { role: "assistant", ...said }, finish_reason: null }]);
  chunk([{ index: 0, delta: {}, finish_reason }]);
  chunk([], { usage });
  response.end("data: [DONE]\n\n");
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
