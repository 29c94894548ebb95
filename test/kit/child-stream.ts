import type { ChildView } from "@agent-lifecycle/proto";
import { onTestFinished } from "vitest";

/** The collector's live stream: what a display would see, change by change. */
export interface ChildStream {
  /** Every `child` event so far, in order. */
  readonly seen: readonly ChildView[];
  /** Resolves with the first change, past or to come, that fulfils the predicate; rejects when the stream ends before. */
  until(predicate: (child: ChildView) => boolean): Promise<ChildView>;
}

interface Wait {
  readonly predicate: (child: ChildView) => boolean;
  readonly resolve: (child: ChildView) => void;
  readonly reject: (error: Error) => void;
}

/** Opens `/api/v1/stream` from the beginning of the log; it is closed when the test ends. */
export async function openChildStream(apiUrl: string): Promise<ChildStream> {
  const closing = new AbortController();
  const response = await fetch(new URL("/api/v1/stream?after=0", apiUrl), { signal: closing.signal });
  if (!response.ok || response.body === null) throw new Error(`the stream answered ${response.status}`);
  const seen: ChildView[] = [];
  const waits = new Set<Wait>();
  let failure: Error | undefined;
  const take = (child: ChildView): void => {
    seen.push(child);
    for (const wait of waits) {
      if (!wait.predicate(child)) continue;
      waits.delete(wait);
      wait.resolve(child);
    }
  };
  const reading = readFrames(response.body, take).catch((error: unknown) => error);
  void reading.then((error) => {
    failure = new Error("the stream ended before the awaited change", { cause: error });
    for (const { reject } of waits) reject(failure);
  });
  onTestFinished(async () => {
    closing.abort();
    await reading;
  });
  return {
    seen,
    until: (predicate) => {
      const past = seen.find(predicate);
      if (past !== undefined) return Promise.resolve(past);
      if (failure !== undefined) return Promise.reject(failure);
      return new Promise((resolve, reject) => waits.add({ predicate, resolve, reject }));
    },
  };
}

async function readFrames(body: ReadableStream<Uint8Array>, take: (child: ChildView) => void): Promise<void> {
  let text = "";
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const frames = (text + chunk).split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      const lines = frame.split("\n");
      const data = lines.find((line) => line.startsWith("data: "));
      if (data === undefined || !lines.includes("event: child")) continue;
      take(JSON.parse(data.slice("data: ".length)) as ChildView);
    }
  }
}
