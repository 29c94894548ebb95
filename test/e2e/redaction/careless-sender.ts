import { appendFileSync } from "node:fs";
import { encodeLogsJson, type LifecycleEvent } from "@agent-lifecycle/proto";
import { type Encoding, ingestRequest } from "../../kit/submit.ts";
import { rawRequest } from "../../unit/collector/raw-http.ts";
import { escaped, type RawEvent, rawEvent, samples } from "./samples.ts";

/** Every text of the corpus. */
const TEXTS: readonly string[] = samples.flatMap(({ in: { text } }) => text ?? []);
/** Every details of the corpus: what is a secret by its name is one only as a member. */
const DETAILS: readonly unknown[] = samples.flatMap(({ in: { details } }) => details ?? []);
/** Those that fit into a header or a request line. */
const ONE_LINE: readonly string[] = TEXTS.filter((text) => /^[\x20-\x7e]+$/.test(text));

/** Sends what no producer should send, to every place that takes anything, and keeps what it is told. */
export class CarelessSender {
  readonly told: string[] = [];
  readonly #ingestUrl: string;
  readonly #apiUrl: string;
  readonly #ingestToken: string;
  readonly #readToken: string;

  constructor(collector: { readonly ingestUrl: string; readonly apiUrl: string }, tokens: readonly [string, string]) {
    this.#ingestUrl = collector.ingestUrl;
    this.#apiUrl = collector.apiUrl;
    [this.#ingestToken, this.#readToken] = tokens;
  }

  /** Returns the status. */
  async post(path: string, contentType: string, body: string | Uint8Array): Promise<number> {
    const response = await fetch(new URL(path, this.#ingestUrl), {
      method: "POST",
      headers: { "content-type": contentType, authorization: `Bearer ${this.#ingestToken}` },
      body: body as NonNullable<RequestInit["body"]>,
    });
    this.told.push(Buffer.from(await response.arrayBuffer()).toString("latin1"));
    return response.status;
  }

  sendEvents(events: readonly RawEvent[], encoding: Encoding): Promise<number> {
    const { path, contentType, body } = ingestRequest(events as unknown as readonly LifecycleEvent[], encoding);
    return this.post(path, contentType, body);
  }

  /** Lines that are no JSON, and requests that are none: they come back in diagnostics and error texts. */
  async sendBroken(): Promise<void> {
    await this.post("/v1/lifecycle/events", "application/x-ndjson", brokenLines());
    for (const text of TEXTS.slice(0, 40)) {
      await this.post("/v1/logs", "application/json", `{"resourceLogs": "${escaped(text)}"`);
      await this.post("/v1/logs", "application/x-protobuf", Buffer.from(text));
    }
  }

  async sendSnapshots(): Promise<void> {
    for (const text of TEXTS) {
      const children = [{ childId: text, state: "running", activity: text, details: { note: text } }];
      const all = { complete: true, coverage: "all", children, observedAt: "2026-09-01T09:00:00Z" };
      const snapshots: readonly RawEvent[] = [
        { source: "careless", snapshotId: text, observedAt: text },
        { ...all, source: "careless", sourceEpoch: text, snapshotId: text },
        { ...all, source: text, sourceEpoch: "epoch-1", snapshotId: text, coverage: [text] },
        { ...all, source: "careless", sourceEpoch: "epoch-1", snapshotId: `${text}/2`, children: [{ [text]: text }] },
      ];
      for (const snapshot of snapshots) {
        await this.post("/v1/lifecycle/snapshots", "application/json", JSON.stringify(snapshot));
      }
    }
    for (const [index, details] of DETAILS.entries()) {
      const children = [{ childId: `detailed-${index}`, state: "running", details }];
      const snapshot = { source: "careless", sourceEpoch: "epoch-1", snapshotId: `detailed-${index}`, children };
      const all = { ...snapshot, complete: true, coverage: "all", observedAt: "2026-09-01T09:00:00Z" };
      await this.post("/v1/lifecycle/snapshots", "application/json", JSON.stringify(all));
    }
  }

  /** What stands around an event in OTLP: resource, scope, body, attributes of others, records of others. */
  async sendAround(): Promise<void> {
    for (const [index, text] of TEXTS.entries()) {
      const event = rawEvent(`around-${index}`, {}) as unknown as LifecycleEvent;
      const logs = JSON.parse(
        encodeLogsJson({ resourceAttributes: { [text]: text }, records: [{ event, emittedAtMs: 0 }] }),
      ) as { resourceLogs: { scopeLogs: { logRecords: Record<string, unknown>[]; scope: object }[] }[] };
      const scopeLogs = logs.resourceLogs[0]?.scopeLogs[0];
      const record = scopeLogs?.logRecords[0];
      if (scopeLogs === undefined || record === undefined) throw new Error("no record");
      const attribute = { key: text, value: { stringValue: text } };
      const attributes = [...(record["attributes"] as readonly object[]), attribute];
      scopeLogs.scope = { name: text, version: text, attributes: [attribute] };
      scopeLogs.logRecords = [
        { ...record, attributes, body: { stringValue: text }, severityText: text },
        { body: { stringValue: text }, attributes: [attribute], severityText: text, eventName: text },
      ];
      await this.post("/v1/logs", "application/json", JSON.stringify(logs));
    }
  }

  /** Headers, paths and queries, on both servers. */
  async sendOddRequests(): Promise<void> {
    for (const text of ONE_LINE) {
      const inPath = encodeURIComponent(text);
      const good = { authorization: `Bearer ${this.#readToken}` };
      await this.#ask(this.#ingestUrl, "POST", "/v1/logs", { authorization: text, "content-type": text });
      await this.#ask(this.#ingestUrl, "POST", "/v1/logs", { "content-encoding": text, cookie: text });
      await this.#ask(this.#ingestUrl, "POST", `/v1/logs/${inPath}`, { "user-agent": text, referer: text });
      await this.#ask(this.#ingestUrl, "GET", `/${inPath}`, { host: "localhost" });
      await this.#ask(this.#ingestUrl, "GET", "/", { host: text });
      await this.#ask(this.#apiUrl, "GET", "/api/v1/children", { authorization: `Bearer ${inPath}` });
      await this.#ask(this.#apiUrl, "GET", `/api/v1/children?state=${inPath}`, good);
      await this.#ask(this.#apiUrl, "GET", `/api/v1/children?${inPath}=${inPath}`, good);
      await this.#ask(this.#apiUrl, "GET", `/api/v1/children?text=${inPath.slice(0, 200)}`, good);
      await this.#ask(this.#apiUrl, "GET", `/api/v1/children/${inPath}/${inPath}`, good);
      await this.#ask(this.#apiUrl, "GET", `/api/v1/${inPath}`, good);
      await this.#ask(this.#apiUrl, "GET", `/%zz${inPath}`, good);
      await this.#ask(this.#apiUrl, "GET", "/api/v1/stream", { ...good, "last-event-id": text });
    }
  }

  async #ask(url: string, method: string, path: string, headers: Readonly<Record<string, string>>): Promise<void> {
    const answer = await rawRequest(url, { method, path, headers });
    this.told.push(answer.body, JSON.stringify(answer.headers));
  }
}

/** Broken lines with every text of the corpus. */
export function brokenLines(): string {
  return TEXTS.map((text) => `{"note": ${escaped(text)}\n`).join("");
}

export function appendEvents(path: string, events: readonly RawEvent[]): void {
  appendFileSync(path, events.map((event) => `${JSON.stringify(event)}\n`).join(""));
}
