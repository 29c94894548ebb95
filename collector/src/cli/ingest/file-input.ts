import { type FileHandle, open, readdir, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";

/** What is read from a file at once. */
const PIECE_BYTES = 262_144;
/** A segment is left alone for so long after its hour has ended: a hook that started in it may still write. */
const SEGMENT_SETTLES_MS = 2 * 3_600_000;

/** A piece of a file that ends with a line, and where the file is to be read on after it. */
export interface FilePiece {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly position: number;
}

/**
 * Reads what is new in a file, or in the segments of a folder in the order of their names: whole lines only. A line that
 * is longer than a piece comes in several. A file that has become shorter was written anew, and is read from its beginning.
 */
export class FileInput {
  readonly #path: string;
  readonly #positions: Map<string, number>;

  constructor(path: string, positions: Readonly<Record<string, number>>) {
    this.#path = path;
    this.#positions = new Map(Object.entries(positions));
  }

  get positions(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#positions);
  }

  /** Everything that is there now. The position moves with each piece, when the next one is asked for. */
  async *read(): AsyncGenerator<FilePiece> {
    for (const { name, path } of await this.#files()) {
      const handle = await open(path, "r");
      try {
        yield* this.#readFile(handle, name);
      } finally {
        await handle.close();
      }
    }
  }

  /** What is behind the last line end, when nothing more is to come: a last line without its end. */
  async rest(): Promise<Uint8Array> {
    const files = await this.#files();
    const last = files.at(-1);
    if (last === undefined) return new Uint8Array();
    const handle = await open(last.path, "r");
    try {
      const position = this.#positions.get(last.name) ?? 0;
      const { size } = await handle.stat();
      const bytes = Buffer.alloc(Math.max(size - position, 0));
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, position);
      this.#positions.set(last.name, position + bytesRead);
      return bytes.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  }

  /** Takes away segments that have been read to their end and that nobody writes to any more. */
  async removeRead(nowMs: number): Promise<void> {
    if (!(await stat(this.#path)).isDirectory()) return;
    for (const { name, path } of await this.#files()) {
      const hour = Date.parse(`${name.slice(0, -".jsonl".length)}:00:00Z`);
      const { size } = await stat(path);
      if (Number.isNaN(hour) || nowMs - hour < SEGMENT_SETTLES_MS || (this.#positions.get(name) ?? 0) < size) continue;
      await rm(path);
      this.#positions.delete(name);
    }
  }

  async #files(): Promise<readonly { readonly name: string; readonly path: string }[]> {
    if (!(await stat(this.#path)).isDirectory()) return [{ name: basename(this.#path), path: this.#path }];
    const names = (await readdir(this.#path)).filter((name) => name.endsWith(".jsonl")).toSorted();
    return names.map((name) => ({ name, path: join(this.#path, name) }));
  }

  async *#readFile(handle: FileHandle, name: string): AsyncGenerator<FilePiece> {
    const { size } = await handle.stat();
    let position = this.#positions.get(name) ?? 0;
    if (position > size) position = 0;
    this.#positions.set(name, position);
    for (;;) {
      const buffer = Buffer.alloc(PIECE_BYTES);
      const { bytesRead } = await handle.read(buffer, 0, PIECE_BYTES, position);
      const end = buffer.subarray(0, bytesRead).lastIndexOf(LINE_FEED) + 1;
      // No line ends in a whole piece: it belongs to a long one, which the reader of lines can tell.
      const taken = end > 0 ? end : bytesRead === PIECE_BYTES ? bytesRead : 0;
      if (taken === 0) return;
      position += taken;
      this.#positions.set(name, position);
      yield { name, bytes: buffer.subarray(0, taken), position };
    }
  }
}

const LINE_FEED = 0x0a;
