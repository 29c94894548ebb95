import { createInterface, emitKeypressEvents } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";

const ENTER = "\u001b[?1049h\u001b[?25l\u001b[?7l";
const LEAVE = "\u001b[?7h\u001b[?25h\u001b[?1049l";
/** Terminals that know it show what is between the two at once; the others pass it over. */
const BEGIN = "\u001b[?2026h";
const END = "\u001b[?2026l";

/** A terminal's other screen, of which only the lines that changed are written: nothing flickers. */
export class TerminalScreen {
  readonly #output: WriteStream;
  readonly #input: ReadStream;
  #shown: readonly string[] = [];
  #isOpen = false;

  constructor(input: ReadStream, output: WriteStream) {
    this.#input = input;
    this.#output = output;
  }

  get columns(): number {
    return this.#output.columns;
  }

  get rows(): number {
    return this.#output.rows;
  }

  /**
   * Takes the terminal.
   * @param onKey hears each key by its name, or by what it types
   * @param onResize called when the terminal has another size
   */
  open(onKey: (key: string) => void, onResize: () => void): void {
    this.#isOpen = true;
    this.#output.write(ENTER);
    this.#output.on("resize", () => {
      this.#shown = [];
      this.#output.write("\u001b[2J");
      onResize();
    });
    const lines = createInterface({ input: this.#input, escapeCodeTimeout: 50 });
    emitKeypressEvents(this.#input, lines);
    if (this.#input.isTTY) this.#input.setRawMode(true);
    this.#input.on("keypress", (text: string | undefined, key: { readonly name?: string; readonly ctrl?: boolean }) => {
      if (key.ctrl === true && key.name === "c") onKey("ctrl-c");
      else
        onKey(
          text !== undefined && text.length === 1 && text > " " && text !== "\u007f" ? text : nameOf(key.name, text),
        );
    });
    this.#input.resume();
  }

  draw(lines: readonly string[]): void {
    if (!this.#isOpen) return;
    let text = "";
    for (const [index, line] of lines.entries()) {
      if (line !== this.#shown[index]) text += `\u001b[${index + 1};1H\u001b[2K${line}`;
    }
    this.#shown = lines;
    if (text !== "") this.#output.write(BEGIN + text + END);
  }

  /** Gives the terminal back as it was. Safe twice. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#input.isTTY) this.#input.setRawMode(false);
    this.#input.pause();
    this.#output.write(LEAVE);
  }
}

function nameOf(name: string | undefined, text: string | undefined): string {
  if (name === "enter") return "return";
  if (name === "space") return " ";
  return name ?? text ?? "";
}
