import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";

/** Stands before a back end and passes everything on; some answers it keeps to itself, when the back end has given them. */
export interface LossyRelay {
  /** The back end's URL, by way of the relay. */
  readonly url: string;
  /** How many answers were lost on their way. */
  readonly lost: number;
  /** The next answers are lost: what they acknowledge is stored, and its sender does not hear of it. */
  loseAnswers(count: number): void;
  close(): Promise<void>;
}

export async function lossyRelay(target: string): Promise<LossyRelay> {
  const { origin, pathname } = new URL(target);
  let toLose = 0;
  let lost = 0;
  const server = createServer((incoming, outgoing) => {
    void passOn(incoming, outgoing, origin, () => {
      if (toLose === 0) return false;
      toLose -= 1;
      lost += 1;
      return true;
    }).catch(() => incoming.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    get lost() {
      return lost;
    },
    loseAnswers: (count) => {
      toLose += count;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The answer is lost only after the back end has given it whole: until then it may not have stored anything. */
async function passOn(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  origin: string,
  isLost: () => boolean,
): Promise<void> {
  const { method, headers, url = "/" } = incoming;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const forwarded = request(new URL(url, origin), { method, headers }, resolve);
    forwarded.on("error", reject);
    pipeline(incoming, forwarded).catch(reject);
  });
  const body: Buffer[] = [];
  for await (const chunk of answer) body.push(chunk as Buffer);
  if (isLost()) {
    incoming.socket.destroy();
    return;
  }
  outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
  outgoing.end(Buffer.concat(body));
}
