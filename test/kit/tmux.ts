import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { temporaryDirectory } from "./event-file.ts";

/** Whether there is a tmux to start; says so when there is none, since what was not run has not passed. */
export function hasTmux(): boolean {
  if (spawnSync("tmux", ["-V"], { stdio: "ignore" }).status === 0) return true;
  console.warn("not run: there is no tmux here");
  return false;
}

const LOOK_MS = 50;
/** Longer than any busy machine takes for one step; then the test is told what was on the screen instead. */
const PATIENCE_MS = 30_000;

/** Runs a program and writes how it ended; then holds the terminal. tmux itself does not always know. */
const HOLD = ["sh", "-c", '"$@"; echo "ended with $?"; exec cat', "sh"];
const ENDED = /^ended with (\d+)$/m;

/** A program in a real terminal, of which only the screen is seen. */
export interface Terminal {
  /** What is on the screen, line by line, without trailing blanks. */
  screen(): readonly string[];
  /** Resolves with the screen as soon as it is as wanted. @throws what is on it instead, after 30 s */
  until(isSo: (screen: string) => boolean): Promise<readonly string[]>;
  /** Resolves with the program's exit code, which stands on the screen that was there before it. @throws after 30 s */
  end(): Promise<number>;
  /** Presses keys, by the names that tmux has for them. */
  press(...keys: readonly string[]): void;
  resize(columns: number, rows: number): void;
}

/** @param argv program and arguments; everything ends with the test */
export function startTerminal(argv: readonly string[], columns: number, rows: number): Terminal {
  const socket = join(temporaryDirectory(), "tmux");
  const tmux = (...command: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync("tmux", ["-S", socket, "-f", "/dev/null", ...command], {
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`tmux ${command[0]}: ${stderr}`);
    return stdout;
  };
  tmux("new-session", "-d", "-x", String(columns), "-y", String(rows), ...HOLD, ...argv);
  onTestFinished(() => void spawnSync("tmux", ["-S", socket, "kill-server"]));
  const screen = (): readonly string[] =>
    tmux("capture-pane", "-p")
      .split("\n")
      .map((line) => line.trimEnd());
  /** A terminal tells nobody that it was drawn on, nor that it is left: it is asked again and again. */
  const asked = async <Answer>(ask: () => Answer | undefined, what: string): Promise<Answer> => {
    for (const began = performance.now(); performance.now() - began < PATIENCE_MS; await delay(LOOK_MS)) {
      const answer = ask();
      if (answer !== undefined) return answer;
    }
    throw new Error(`not seen: ${what}; on the screen:\n${screen().join("\n")}`);
  };
  return {
    screen,
    until: (isSo) =>
      asked(() => {
        const lines = screen();
        return isSo(lines.join("\n")) ? lines : undefined;
      }, String(isSo)),
    end: () =>
      asked(() => {
        const code = ENDED.exec(screen().join("\n"))?.[1];
        return code === undefined ? undefined : Number(code);
      }, "the program's end"),
    press: (...keys) => void tmux("send-keys", ...keys),
    resize: (width, height) => void tmux("resize-window", "-x", String(width), "-y", String(height)),
  };
}
