import type { WriteStream } from "node:tty";
import type { TableOptions } from "./child-table.ts";

/** How to draw on a stream now: colour only for people (and never with NO_COLOR), as wide as it is; whole for a program. */
export function terminalOf(stream: Pick<WriteStream, "isTTY" | "columns">): TableOptions {
  return {
    now: Date.now(),
    colour: stream.isTTY === true && process.env["NO_COLOR"] === undefined,
    width: stream.columns ?? Number.POSITIVE_INFINITY,
  };
}
