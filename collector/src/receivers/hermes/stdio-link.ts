import { spawn } from "node:child_process";
import { StringDecoder } from "node:string_decoder";
import { redactAndCut } from "./display-text.ts";
import type { FrameLink, LinkEnd, LinkListener } from "./frame-link.ts";

export interface StdioLinkOptions {
  /** The program and its arguments; no shell reads it. */
  readonly command: readonly [string, ...(readonly string[])];
  /** Added to our own environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
  readonly maxFrameBytes: number;
  /** From asking the program to end until it is killed. Milliseconds. */
  readonly stopTimeoutMs: number;
}

const KEPT_STDERR_CHARACTERS = 2_048;
/** Stands for the beginning of a line that was too long to keep. */
const CUT = "…";
/** For what a gateway that ended by itself has still said. */
const DRAIN_TIMEOUT_MS = 1_000;

/**
 * A gateway that we start ourselves and speak to over its standard streams, one frame a line. It is ended with us. What it
 * writes to its standard error is read, so that it never blocks on it, and the last of it is told when it ends by itself.
 */
export function openStdioLink(options: StdioLinkOptions, listener: LinkListener): FrameLink {
  const [program, ...programArguments] = options.command;
  const child = spawn(program, programArguments, {
    env: { ...process.env, ...options.environment },
    ...(options.workingDirectory === undefined ? undefined : { cwd: options.workingDirectory }),
    stdio: ["pipe", "pipe", "pipe"],
    windowsHide: true,
  });
  const lines = new FrameLines(options.maxFrameBytes);
  const gone = Promise.withResolvers<void>();
  let lastWords = "";
  let hasEnded = false;
  let killTimer: NodeJS.Timeout | undefined;
  let drainTimer: NodeJS.Timeout | undefined;

  const end = (reason: LinkEnd): void => {
    if (hasEnded) return;
    hasEnded = true;
    // The end of its input is how the gateway is asked to stop; one that does not is made to.
    child.stdin.end();
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      killTimer = setTimeout(() => child.kill("SIGKILL"), options.stopTimeoutMs);
      child.kill("SIGTERM");
    }
    listener.onEnd(reason);
  };

  child.stdout.on("data", (chunk: Buffer) => {
    for (const line of lines.push(chunk)) {
      if (hasEnded) return;
      listener.onFrame(line);
    }
    if (lines.isOversize) end({ kind: "oversize", text: "the gateway sent a line longer than allowed" });
  });
  child.stderr.on("data", (chunk: Buffer) => {
    lastWords = newestOf(lastWords + chunk.toString("utf8"));
  });
  child.stdin.on("error", () => {});
  child.on("error", (error) => {
    end({ kind: "unreachable", text: `${program}: ${codeOf(error)}` });
    if (child.pid === undefined) gone.resolve();
  });
  // A process that the gateway started may hold its streams open longer than it lives.
  child.on("exit", () => {
    clearTimeout(killTimer);
    drainTimer = setTimeout(
      () => {
        child.stdout.destroy();
        child.stderr.destroy();
      },
      hasEnded ? 0 : DRAIN_TIMEOUT_MS,
    );
  });
  child.on("close", (code, signal) => {
    clearTimeout(drainTimer);
    const how = signal === null ? `ended with ${code}` : `was ended by ${signal}`;
    const said = lastWords.trim() === "" ? "" : `: ${lastLine(lastWords)}`;
    end({ kind: "lost", text: redactAndCut(`the gateway ${how}${said}`) });
    gone.resolve();
  });
  return {
    send: (text) => {
      if (!hasEnded && child.stdin.writable) child.stdin.write(`${text}\n`);
    },
    end,
    gone: gone.promise,
  };
}

/** Cuts a stream of bytes into its lines, and stops holding a line that grows beyond the limit. */
class FrameLines {
  readonly #maxBytes: number;
  readonly #decoder = new StringDecoder("utf8");
  /** Pieces of the line that is not complete yet. */
  #pieces: string[] = [];
  #length = 0;
  isOversize = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): readonly string[] {
    const complete: string[] = [];
    const [rest, ...starts] = this.#decoder.write(chunk).split("\n").reverse();
    for (const end of starts.reverse()) {
      this.#keep(end);
      if (this.isOversize) return complete;
      const line = this.#pieces.join("").trim();
      if (line !== "") complete.push(line);
      this.#pieces = [];
      this.#length = 0;
    }
    this.#keep(rest ?? "");
    return complete;
  }

  #keep(piece: string): void {
    this.#length += piece.length;
    // A character takes at least one byte: nothing within the limit is ever refused.
    this.isOversize ||= this.#length > this.#maxBytes;
    if (this.isOversize) this.#pieces = [];
    else this.#pieces.push(piece);
  }
}

/** The newest of a text, from the beginning of a line. */
function newestOf(text: string): string {
  if (text.length <= KEPT_STDERR_CHARACTERS) return text;
  const kept = text.slice(-KEPT_STDERR_CHARACTERS);
  const start = kept.indexOf("\n");
  return start === -1 ? `${CUT}${kept.slice(CUT.length)}` : kept.slice(start + 1);
}

/** A line without its beginning is not told: what follows may be the rest of a secret, which nothing could find any more. */
function lastLine(text: string): string {
  const line = text.trim().split("\n").at(-1) ?? "";
  return line.startsWith(CUT) ? "its last line is too long to be told" : line;
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "cannot be started";
}
