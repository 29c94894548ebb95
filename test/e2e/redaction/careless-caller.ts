import type { LifecycleEvent } from "@agent-lifecycle/proto";
import { Client, credentials, Metadata, status as STATUS } from "@grpc/grpc-js";
import { onTestFinished } from "vitest";
import { ingestRequest } from "../../kit/submit.ts";
import { type RawEvent, samples } from "./samples.ts";

const EXPORT = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";
/** Texts that metadata may hold. */
const ONE_LINE: readonly string[] = samples
  .flatMap(({ in: { text } }) => text ?? [])
  .filter((text) => /^[\x20-\x7e]+$/.test(text));

/** A careless sender that speaks OTLP/gRPC. */
export class CarelessCaller {
  readonly told: string[] = [];
  readonly #client: Client;
  readonly #token: string;

  constructor(grpcUrl: string, token: string) {
    this.#client = new Client(new URL(grpcUrl).host, credentials.createInsecure());
    onTestFinished(() => this.#client.close());
    this.#token = token;
  }

  /** Returns the status code. */
  sendEvents(events: readonly RawEvent[]): Promise<number> {
    const { body } = ingestRequest(events as unknown as readonly LifecycleEvent[], "protobuf");
    return this.#call(EXPORT, Buffer.from(body), { authorization: `Bearer ${this.#token}` });
  }

  /** Messages that are none, tokens that are none, methods that there are not. */
  async sendOddCalls(): Promise<void> {
    const good = { authorization: `Bearer ${this.#token}` };
    for (const text of ONE_LINE) {
      await this.#call(EXPORT, Buffer.from(text), good);
      await this.#call(EXPORT, Buffer.alloc(0), { authorization: text });
      await this.#call(EXPORT, Buffer.alloc(0), { ...good, "x-note": text });
      await this.#callUnknown(encodeURIComponent(text), good);
    }
  }

  /**
   * The gRPC library answers by itself that there is no such method, and names it. Whoever called knows that name, and
   * nobody else is told: it is the outputs to others that must not hold it.
   */
  async #callUnknown(name: string, entries: Readonly<Record<string, string>>): Promise<void> {
    const before = this.told.length;
    const code = await this.#call(`/${name}/Export`, Buffer.alloc(0), entries);
    if (code !== STATUS.UNIMPLEMENTED) throw new Error(`an unknown method was answered by ${code}`);
    this.told.length = before;
  }

  #call(method: string, message: Buffer, entries: Readonly<Record<string, string>>): Promise<number> {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(entries)) metadata.set(name, value);
    return new Promise((resolve) => {
      const call = this.#client.makeUnaryRequest<Buffer, Buffer>(
        method,
        (request) => request,
        (answer) => answer,
        message,
        metadata,
        (error, answer) => {
          if (error !== null) this.#keep(error.details, error.metadata);
          if (answer !== undefined) this.told.push(answer.toString("latin1"));
          resolve(error?.code ?? 0);
        },
      );
      call.on("metadata", (initial: Metadata) => this.#keep("", initial));
    });
  }

  #keep(details: string, metadata: Metadata): void {
    const entries = Object.entries(metadata.getMap()).map(([name, value]) => `${name}: ${value.toString("latin1")}`);
    this.told.push(details, ...entries);
  }
}
