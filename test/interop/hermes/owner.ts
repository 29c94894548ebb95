import { once } from "node:events";
import { onTestFinished } from "vitest";
import { WebSocket } from "ws";
import type { Gateway } from "./gateway.ts";

/** A frame of the gateway about one of its sessions, or about all of them. */
export interface OwnerFrame {
  readonly type: string;
  readonly sessionId: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The client that sessions belong to: what a person's program is to the gateway. */
export interface Owner {
  /** Everything that came unasked, in order. */
  readonly frames: readonly OwnerFrame[];
  /** @throws Error with the gateway's code and words when it refuses. */
  ask(method: string, params?: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>;
  /** Resolves with the first frame, past or to come, that fulfils the predicate; rejects when the connection ends or a session fails before. */
  until(predicate: (frame: OwnerFrame) => boolean): Promise<OwnerFrame>;
  close(): void;
}

interface RawFrame {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly type?: string; readonly session_id?: string; readonly payload?: OwnerFrame["payload"] };
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

interface Question {
  readonly resolve: (result: Readonly<Record<string, unknown>>) => void;
  readonly reject: (error: Error) => void;
}

/** Connects, and resolves when the gateway is ready. The connection is closed after the test. */
export async function connectOwner({ url, token }: Pick<Gateway, "url" | "token">): Promise<Owner> {
  const socket = new WebSocket(`${url}?token=${token}`);
  const frames: OwnerFrame[] = [];
  const questions = new Map<number, Question>();
  const waits = new Set<{ readonly look: () => void; readonly reject: (error: Error) => void }>();
  let failure: Error | undefined;
  const fail = (error: Error): void => {
    failure ??= error;
    for (const { reject } of questions.values()) reject(error);
    for (const { reject } of waits) reject(error);
  };
  let asked = 0;
  socket.on("message", (data) => {
    const { id, method, params, result, error } = JSON.parse(data.toString()) as RawFrame;
    if (method === "event") {
      frames.push({ type: params?.type ?? "", sessionId: params?.session_id ?? "", payload: params?.payload ?? {} });
      for (const { look } of waits) look();
      // A session that cannot go on: nothing that is still awaited would come.
      if (params?.type === "error") fail(new Error(`the gateway tells of an error: ${JSON.stringify(params.payload)}`));
      return;
    }
    if (typeof id !== "number") return;
    const question = questions.get(id);
    questions.delete(id);
    if (error === undefined) question?.resolve(result ?? {});
    else question?.reject(new Error(`${error.code}: ${error.message}`));
  });
  socket.on("close", (code) => fail(new Error(`the gateway closed the owner's connection with ${code}`)));
  socket.on("error", () => {});
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  const owner: Owner = {
    frames,
    ask: (method, params = {}) => {
      asked += 1;
      const id = asked;
      return new Promise((resolve, reject) => {
        questions.set(id, { resolve, reject });
        socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      });
    },
    until: (predicate) =>
      new Promise((resolve, reject) => {
        const wait = {
          look: (): void => {
            const found = frames.find(predicate);
            if (found === undefined) return;
            waits.delete(wait);
            resolve(found);
          },
          reject,
        };
        waits.add(wait);
        wait.look();
        if (failure !== undefined) reject(failure);
      }),
    close: () => socket.terminate(),
  };
  await owner.until(({ type }) => type === "gateway.ready");
  return owner;
}
