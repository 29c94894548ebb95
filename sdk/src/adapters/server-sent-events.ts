/** Longest event, in UTF-16 units; a longer one is left out and counted. */
const MAX_EVENT_LENGTH = 1_048_576;

export interface ServerSentEventReader {
  /** Takes the next piece of the stream, cut anywhere, and returns the JSON values of the events that it completes. */
  push(piece: string): readonly unknown[];
  /** Events that are no JSON, or longer than 1,048,576 characters. */
  readonly broken: number;
}

/** Reads the `data` of server-sent events as JSON. Other fields are for clients that reconnect, which a pipe does not. */
export function createServerSentEventReader(): ServerSentEventReader {
  return new Reader();
}

class Reader implements ServerSentEventReader {
  broken = 0;
  #rest = "";
  #restTooLong = false;
  #data: string[] = [];
  #length = 0;

  push(piece: string): readonly unknown[] {
    const values: unknown[] = [];
    const lines = piece.split("\n");
    // Joined one by one: a line that never ends is held no longer than it may be.
    const [first = "", ...others] = lines;
    this.#append(first);
    for (const line of others) {
      this.#line(this.#rest.endsWith("\r") ? this.#rest.slice(0, -1) : this.#rest, values);
      this.#rest = "";
      this.#restTooLong = false;
      this.#append(line);
    }
    return values;
  }

  #append(text: string): void {
    if (this.#rest.length + text.length > MAX_EVENT_LENGTH) {
      this.#restTooLong = true;
      this.#rest = "data:";
    }
    if (!this.#restTooLong) this.#rest += text;
  }

  #line(line: string, values: unknown[]): void {
    if (line === "") this.#dispatch(values);
    else if (line.startsWith("data:")) {
      const data = line.slice(line.startsWith("data: ") ? 6 : 5);
      this.#length += this.#restTooLong ? MAX_EVENT_LENGTH + 1 : data.length;
      if (this.#length <= MAX_EVENT_LENGTH) this.#data.push(data);
      else this.#data = [""];
    }
  }

  #dispatch(values: unknown[]): void {
    const data = this.#data;
    const tooLong = this.#length > MAX_EVENT_LENGTH;
    this.#data = [];
    this.#length = 0;
    if (data.length === 0) return;
    try {
      if (tooLong) throw new RangeError("too long");
      values.push(JSON.parse(data.join("\n")));
    } catch {
      this.broken += 1;
    }
  }
}
