import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent, type AgentOptions, request } from "node:https";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import type { CertificateAuthority, IssuedCertificate } from "../../kit/certificates.ts";

export interface TlsAnswer {
  readonly statusCode: number;
  readonly body: string;
  /** The client's port: equal for two requests on one connection. */
  readonly localPort: number | undefined;
}

export interface TlsClientOptions extends AgentOptions {
  /** Whose servers it trusts. */
  readonly trusts: CertificateAuthority;
  /** What it shows of itself. */
  readonly shows?: IssuedCertificate;
}

/** An HTTPS client that believes one authority and nobody else. */
export class TlsClient {
  readonly #agent: Agent;

  constructor({ trusts, shows, ...options }: TlsClientOptions) {
    this.#agent = new Agent({
      ca: trusts.certificate,
      ...(shows === undefined ? undefined : { cert: shows.certificate, key: shows.privateKey }),
      ...options,
    });
    onTestFinished(() => this.#agent.destroy());
  }

  /** Posts JSON. Rejects when there is no connection to post it on. */
  async post(url: string, body: string | Buffer, headers: Readonly<Record<string, string>> = {}): Promise<TlsAnswer> {
    const outgoing = request(url, {
      method: "POST",
      agent: this.#agent,
      headers: { "content-type": "application/json", ...headers },
    });
    const answered = once(outgoing, "response") as Promise<[IncomingMessage]>;
    outgoing.end(body);
    const [response] = await answered;
    const { localPort } = response.socket;
    return { statusCode: response.statusCode ?? 0, body: await text(response), localPort };
  }
}
