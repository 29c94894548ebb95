import { StringDecoder } from "node:string_decoder";
import { createJsonlReader, type JsonlItem } from "@agent-lifecycle/proto";
import { createServerSentEventReader } from "@agent-lifecycle/sdk/adapters";
import type { IngestionProblem } from "./ingestion.ts";

/** Turns bytes into what an adapter takes. */
export interface InputDecoder {
  push(bytes: Uint8Array): readonly unknown[];
  end(): readonly unknown[];
}

/** Longest line: tools of agents answer at length. A longer one is left out and told of, and never held. */
const MAX_LINE_BYTES = 4_194_304;

/** Reads JSON lines; a stream that begins as server-sent events (`data: …`) is read as those. */
export function createInputDecoder(onProblem: (problem: IngestionProblem) => void): InputDecoder {
  let decoder: InputDecoder | undefined;
  const select = (bytes: Uint8Array): InputDecoder => {
    decoder ??= isServerSentEvents(bytes) ? eventDecoder(onProblem) : lineDecoder(onProblem);
    return decoder;
  };
  return {
    push: (bytes) => (bytes.length === 0 ? [] : select(bytes).push(bytes)),
    end: () => decoder?.end() ?? [],
  };
}

/** A JSON line begins with a brace. */
function isServerSentEvents(bytes: Uint8Array): boolean {
  return /^(\uFEFF)?\s*(data|event|id|retry)?:/.test(Buffer.from(bytes.subarray(0, 64)).toString());
}

function lineDecoder(onProblem: (problem: IngestionProblem) => void): InputDecoder {
  const reader = createJsonlReader({ maxLineBytes: MAX_LINE_BYTES });
  const valuesOf = (items: readonly JsonlItem[]): readonly unknown[] =>
    items.flatMap((item) => {
      if (item.ok) return [item.value];
      onProblem({ code: item.code, text: `line ${item.line}, byte ${item.byteOffset}: ${item.excerpt}` });
      return [];
    });
  return { push: (bytes) => valuesOf(reader.push(bytes)), end: () => valuesOf(reader.end()) };
}

function eventDecoder(onProblem: (problem: IngestionProblem) => void): InputDecoder {
  const reader = createServerSentEventReader();
  const text = new StringDecoder("utf8");
  let told = 0;
  const push = (piece: string): readonly unknown[] => {
    const values = reader.push(piece);
    for (; told < reader.broken; told += 1) onProblem({ code: "malformed", text: "a server-sent event is no JSON" });
    return values;
  };
  return { push: (bytes) => push(text.write(Buffer.from(bytes))), end: () => push(`${text.end()}\n\n`) };
}
