import { request } from "node:http";

/** Posts over a connection of its own, which is closed with the answer: nothing stays open in this process. */
export function post(url: string, contentType: string, body: string | Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": contentType, "content-length": Buffer.byteLength(body) };
    const outgoing = request(url, { method: "POST", agent: false, headers }, (response) => {
      response.on("error", reject);
      response.on("close", () => resolve(response.statusCode ?? 0));
      response.resume();
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}
