/** One server-sent event. */
export interface ServerSentEvent {
  readonly name: string;
  readonly data: string;
  readonly id: string | undefined;
}

/**
 * Takes the text of a stream of server-sent events, cut anywhere, and gives back the events that are complete with it.
 * Comments and events without data are left out; lines end in LF, CRLF or CR (HTML standard, section 9.2).
 */
export function createEventParser(): (text: string) => readonly ServerSentEvent[] {
  let rest = "";
  return (text) => {
    // A CR at the end may be the first half of a CRLF.
    const joined = rest + text;
    const held = joined.endsWith("\r") ? 1 : 0;
    const whole = joined.slice(0, joined.length - held).replaceAll(/\r\n?/g, "\n");
    const blocks = whole.split("\n\n");
    rest = (blocks.pop() ?? "") + joined.slice(joined.length - held);
    return blocks.flatMap(parseBlock);
  };
}

function parseBlock(block: string): readonly ServerSentEvent[] {
  let name = "message";
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "event") name = value;
    else if (field === "data") data.push(value);
    else if (field === "id") id = value;
  }
  return data.length === 0 ? [] : [{ name, data: data.join("\n"), id }];
}
