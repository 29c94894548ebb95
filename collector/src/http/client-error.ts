import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { HttpRefusal, type RefusalReason } from "./http-refusal.ts";
import type { RefusalDocument } from "./problem-reply.ts";
import { SECURITY_HEADERS } from "./security-headers.ts";

/**
 * Answers what never became a request, because it is no HTTP, is too long before its body, or does not come to an end
 * in time. The framework would do so in a form of its own. The connection is closed afterwards.
 */
export class ClientErrors {
  readonly #answers = new WeakMap<Duplex, ServerResponse>();
  readonly #document: (refusal: HttpRefusal) => RefusalDocument;

  /** @param document a refusal in the language of those who come here */
  constructor(document: (refusal: HttpRefusal) => RefusalDocument) {
    this.#document = document;
  }

  /** Remembers which answer a connection has, so that nothing is said in the middle of it. */
  watch(server: Server): void {
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      this.#answers.set(request.socket, response);
    });
  }

  readonly answer = (error: NodeJS.ErrnoException, socket: Duplex): void => {
    if (error.code === "ECONNRESET" || socket.destroyed) return;
    const running = this.#answers.get(socket);
    const isAnswering = running?.headersSent === true && !running.writableFinished;
    if (socket.writable && !isAnswering) socket.write(this.#written(refusalOfCode(error.code)));
    socket.destroy(error);
  };

  #written(refusal: HttpRefusal): string {
    const { contentType, body } = this.#document(refusal);
    const headers = {
      ...SECURITY_HEADERS,
      "content-type": contentType,
      "content-length": String(Buffer.byteLength(body)),
      connection: "close",
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const { statusCode } = refusal;
    return `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode] ?? ""}\r\n${lines.join("")}\r\n${body}`;
  }
}

const REFUSALS: Readonly<Record<string, readonly [RefusalReason, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ["aborted", "the request did not come to its end in time"],
  HPE_HEADER_OVERFLOW: ["headers_too_large", "the headers are too large"],
};

function refusalOfCode(code: string | undefined): HttpRefusal {
  const [reason, detail] = REFUSALS[code ?? ""] ?? ["malformed", "the request is no well-formed HTTP"];
  return new HttpRefusal(reason, detail);
}
