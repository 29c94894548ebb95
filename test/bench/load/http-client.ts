import { Agent, request } from "node:http";

/** Sends POST requests over connections that stay open. */
export class HttpClient {
  readonly #agent: Agent;

  constructor(maxConnections: number) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: maxConnections });
  }

  /** Resolves with the length of the answer when it has come in full. @throws Error for any answer but 200. */
  post(url: string, contentType: string, body: Buffer): Promise<number> {
    return new Promise((resolve, reject) => {
      const sending = request(
        url,
        { method: "POST", agent: this.#agent, headers: { "content-type": contentType, "content-length": body.length } },
        (answer) => {
          let bytes = 0;
          answer.on("data", (chunk: Buffer) => {
            bytes += chunk.length;
          });
          answer.once("error", reject);
          answer.once("end", () => {
            if (answer.statusCode === 200) resolve(bytes);
            else reject(new Error(`${url} answered ${answer.statusCode}`));
          });
        },
      );
      sending.once("error", reject);
      sending.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
