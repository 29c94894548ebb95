// Requests to the collector: JSON answers, and the stream of server-sent events. The stream is read with fetch, since an
// EventSource can carry no token.

const TOKEN_KEY = "agent-lifecycle-read-token";
/** The collector gives a sign of life every 15 s; after this long without one the connection counts as broken. */
const SILENCE_MS = 40_000;

/** The collector wants a token that may read. Its text says what was wrong with the one that was shown, if one was. */
export class TokenRequired extends Error {}

/** Kept for this tab, as long as it is open; it is in no address, no cookie and no file. */
export const rememberToken = (token) => sessionStorage.setItem(TOKEN_KEY, token.trim());

function headers() {
  const token = sessionStorage.getItem(TOKEN_KEY);
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

async function request(path, signal) {
  const response = await fetch(path, { headers: headers(), cache: "no-store", ...(signal && { signal }) });
  const isTokenRefused = response.status === 403 && sessionStorage.getItem(TOKEN_KEY) !== null;
  if (response.status === 401 || isTokenRefused) throw refusedToken(response.status);
  if (!response.ok) throw new Error(`the collector answered ${response.status}`);
  return response;
}

function refusedToken(status) {
  const wasShown = sessionStorage.getItem(TOKEN_KEY) !== null;
  sessionStorage.removeItem(TOKEN_KEY);
  if (!wasShown) return new TokenRequired("");
  return new TokenRequired(status === 401 ? "This token is not known here." : "This token is not for reading.");
}

export async function getJson(path) {
  return (await request(path, AbortSignal.timeout(15_000))).json();
}

/**
 * Reads the stream until it breaks, then rejects.
 * @param after id of the last input that is known already
 * @param onOpen called once the collector answers
 * @param onEvent called with each event: its name, its data, and its id if it has one
 */
export async function readStream(after, onOpen, onEvent) {
  const broken = new AbortController();
  let silence = setTimeout(() => broken.abort(), SILENCE_MS);
  try {
    const response = await request(`/api/v1/stream?after=${after}`, broken.signal);
    onOpen();
    const text = response.body.pipeThrough(new TextDecoderStream());
    const takeText = createEventParser(onEvent);
    for await (const chunk of readerChunks(text)) {
      clearTimeout(silence);
      silence = setTimeout(() => broken.abort(), SILENCE_MS);
      takeText(chunk);
    }
  } finally {
    clearTimeout(silence);
    broken.abort();
  }
  throw new Error("the stream ended");
}

async function* readerChunks(stream) {
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

/** Server-sent events from text that is cut anywhere. */
export function createEventParser(onEvent) {
  let rest = "";
  return (text) => {
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = new Map();
      for (const line of block.split("\n")) {
        const colon = line.indexOf(": ");
        if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 2));
      }
      const data = fields.get("data");
      if (data !== undefined) onEvent(fields.get("event") ?? "message", JSON.parse(data), fields.get("id"));
    }
  };
}
